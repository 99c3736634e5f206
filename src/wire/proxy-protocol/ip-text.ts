// Numeric addresses between text and bytes: IPv4 as four, IPv6 as sixteen. Strict on the way in (what `inet_pton` takes: no
// leading zeros, no zone, no port), canonical on the way out (RFC 5952).

/** The bytes of an address, 4 or 16; undefined when the text is none. */
export function addressBytes(text: string): Uint8Array | undefined {
  return text.includes(':') ? sixteen(text) : four(text);
}

/** The address that 4 or 16 bytes are, in its one canonical form; one of IPv4 within IPv6 in dotted form. */
export function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, index) => ((bytes[2 * index] ?? 0) << 8) | (bytes[2 * index + 1] ?? 0));
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    return `::ffff:${bytes.subarray(12).join('.')}`;
  }
  const { from, length } = longestZeros(groups);
  const hex = groups.map((group) => group.toString(16));
  if (length < 2) return hex.join(':');
  return `${hex.slice(0, from).join(':')}::${hex.slice(from + length).join(':')}`;
}

function four(text: string): Uint8Array | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255))
    return undefined;
  return Uint8Array.from(parts, Number);
}

function sixteen(text: string): Uint8Array | undefined {
  // A dotted tail is two groups.
  const tail = /^(.*:)([\d.]+)$/.exec(text);
  let head = text;
  if (tail?.[2]?.includes('.') === true) {
    const ipv4 = four(tail[2]);
    if (ipv4 === undefined) return undefined;
    const [a = 0, b = 0, c = 0, d = 0] = ipv4;
    head = `${tail[1]}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  }
  const halves = head.split('::');
  if (halves.length > 2) return undefined;
  const [before = [], after] = halves.map((half) => (half === '' ? [] : half.split(':')));
  const given = before.length + (after?.length ?? 0);
  if (after === undefined ? given !== 8 : given > 7) return undefined;
  const groups = [...before, ...Array.from({ length: 8 - given }, () => '0'), ...(after ?? [])];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined;
  return Uint8Array.from(
    groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]),
  );
}

/** The first of the longest runs of zeros. */
function longestZeros(groups: readonly number[]): { readonly from: number; readonly length: number } {
  let best = { from: 0, length: 0 };
  for (let from = 0; from < groups.length; from++) {
    let length = 0;
    while (groups[from + length] === 0) length++;
    if (length > best.length) best = { from, length };
  }
  return best;
}
