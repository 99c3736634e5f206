// The octets of HTTP/1.1, as tables of 256 entries: one look-up says whether a byte may stand where it stands. We parse
// octets and never characters (RFC 9112 section 2.2): what a multi-byte decoder would swallow is where two readers of one
// stream begin to differ.

export const tab = 0x09;
export const lf = 0x0a;
export const cr = 0x0d;
export const space = 0x20;
export const comma = 0x2c;
export const colon = 0x3a;
export const semicolon = 0x3b;

/** For a token character (RFC 9110 section 5.6.2) its lower case, for any other byte 0. */
export const lowerToken: Uint8Array = table((code) =>
  isAlphaNumeric(code) || "!#$%&'*+-.^_`|~".includes(String.fromCharCode(code)) ? lowerCase(code) : 0,
);

/** 1 for what a field value may contain: tab, space, visible ASCII and obs-text. Other control characters are not
 * forbidden to be kept, but every reader that keeps them is a surprise for the next one (RFC 9110 section 5.5). */
export const fieldText: Uint8Array = table((code) => (code === tab || (code >= space && code !== 0x7f) ? 1 : 0));

/** 1 for what a request target may contain. RFC 3986 knows fewer, but `|`, `{`, `"` are sent raw by browsers and scripts
 * and are not read in two ways. `#` and bytes above ASCII are: some cut a fragment there, some do not. */
export const targetText: Uint8Array = table((code) => (code > space && code < 0x7f && code !== 0x23 ? 1 : 0));

/** 1 for the characters of a registered name or an IPv4 address (RFC 3986 section 3.2.2), without the comma, which would
 * make one Host look like a list. */
export const hostText: Uint8Array = table((code) =>
  isAlphaNumeric(code) || "-._~%!$&'()*+;=".includes(String.fromCharCode(code)) ? 1 : 0,
);

/** The value of a hexadecimal digit, 255 for any other byte. */
export const hexValue: Uint8Array = table((code) => {
  const value = '0123456789abcdef'.indexOf(String.fromCharCode(lowerCase(code)));
  return value < 0 ? 255 : value;
});

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Text to bytes, one for each character; only for constants of ASCII. */
export function ascii(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes;
}

/** Bytes to text, one character for each (ISO 8859-1), as field values are to be read. */
export function latin1(bytes: Uint8Array, from: number, to: number): string {
  let text = '';
  for (let at = from; at < to; at++) text += String.fromCharCode(bytes[at] ?? 0);
  return text;
}

/** A copy that shares nothing. (`slice` is not that for everybody: a Node Buffer's gives a view.) */
export function copyOf(bytes: Uint8Array, from: number, to: number): Uint8Array {
  const copy = new Uint8Array(to - from);
  copy.set(bytes.subarray(from, to));
  return copy;
}

/** Do the bytes say `lower` (already lower case) in any case? */
export function sameToken(bytes: Uint8Array, from: number, to: number, lower: Uint8Array): boolean {
  if (to - from !== lower.length) return false;
  for (let index = 0; index < lower.length; index++) {
    if (lowerToken[bytes[from + index] ?? 0] !== lower[index]) return false;
  }
  return true;
}

function table(entry: (code: number) => number): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => entry(code));
}

function isAlphaNumeric(code: number): boolean {
  return isDigit(code) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}

function lowerCase(code: number): number {
  return code >= 0x41 && code <= 0x5a ? code + 32 : code;
}
