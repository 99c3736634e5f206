// The cookies of one user, as RFC 6265 has them and as far as a load test needs it: one host, so no domains; runs are short,
// so a cookie lives until it is replaced or expressly taken away (Max-Age of 0 or less, or an Expires at the beginning of
// time). `Secure` is not obeyed: a test often talks to the hop behind the one that ends TLS.

/** As many as browsers keep for a host, and as long. Further ones are dropped. */
const cookiesMax = 50;
const cookieBytesMax = 4096;

interface Cookie {
  readonly value: string;
  readonly path: string;
}

export class CookieJar {
  readonly #cookies = new Map<string, Cookie>();

  get size(): number {
    return this.#cookies.size;
  }

  /** Takes in one Set-Cookie field of the answer to a request for `requestPath`. What is not a cookie is ignored. */
  take(field: string, requestPath: string): void {
    const [pair = '', ...attributes] = field.split(';').map((part) => part.trim());
    const equals = pair.indexOf('=');
    if (equals <= 0 || field.length > cookieBytesMax) return;
    const name = pair.slice(0, equals).trim();
    const settings = new Map(attributes.map(attribute));
    const path = pathOf(settings.get('path'), requestPath);
    const key = `${name} ${path}`;
    if (isTakenAway(settings)) this.#cookies.delete(key);
    else if (this.#cookies.has(key) || this.#cookies.size < cookiesMax) {
      this.#cookies.set(key, { value: `${name}=${pair.slice(equals + 1).trim()}`, path });
    }
  }

  /** The Cookie field for a request, longer paths first (RFC 6265, 5.4); undefined when there is none to send. */
  field(requestPath: string): string | undefined {
    if (this.#cookies.size === 0) return undefined;
    const fitting = [...this.#cookies.values()].filter(({ path }) => isWithin(requestPath, path));
    if (fitting.length === 0) return undefined;
    return fitting
      .toSorted((a, b) => b.path.length - a.path.length)
      .map(({ value }) => value)
      .join('; ');
  }
}

function attribute(text: string): [string, string] {
  const equals = text.indexOf('=');
  return equals === -1
    ? [text.toLowerCase(), '']
    : [text.slice(0, equals).trim().toLowerCase(), text.slice(equals + 1).trim()];
}

/** The cookie's own path, else the folder of the request (RFC 6265, 5.1.4). */
function pathOf(given: string | undefined, requestPath: string): string {
  if (given !== undefined && given.startsWith('/')) return given;
  const path = requestPath.split('?')[0] ?? '/';
  const lastSlash = path.lastIndexOf('/');
  return lastSlash <= 0 ? '/' : path.slice(0, lastSlash);
}

function isWithin(requestPath: string, cookiePath: string): boolean {
  const path = requestPath.split('?')[0] ?? '/';
  if (!path.startsWith(cookiePath)) return false;
  return path.length === cookiePath.length || cookiePath.endsWith('/') || path[cookiePath.length] === '/';
}

function isTakenAway(settings: ReadonlyMap<string, string>): boolean {
  const maxAge = settings.get('max-age');
  if (maxAge !== undefined && /^-?\d+$/.test(maxAge)) return Number(maxAge) <= 0;
  const expires = Date.parse(settings.get('expires') ?? '');
  return expires < Date.UTC(2000, 0, 1);
}
