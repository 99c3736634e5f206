// May a request be sent a second time without asking the client? Only when doing it twice is doing it once: the idempotent
// methods of RFC 9110 section 9.2.2. A proxy must not repeat any other on its own, since it cannot know whether the first
// was carried out. (When nothing of it was sent, any method may be tried elsewhere; that needs no question.)

/** Method names are case-sensitive: `get` is some other method, and not idempotent as far as we know. */
export function isIdempotent(method: string): boolean {
  switch (method) {
    case 'GET':
    case 'HEAD':
    case 'PUT':
    case 'DELETE':
    case 'OPTIONS':
    case 'TRACE':
      return true;
    default:
      return false;
  }
}
