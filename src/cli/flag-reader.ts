// Flags of `plimsoll load` as they were typed, read one by one. Every mistake is kept, so that all are told at once.

import { type Duration, ms, parseDuration } from '../base.ts';
import type { SourceRequest } from '../load.ts';
import {
  constant,
  type Distribution,
  type Objective,
  parseDistribution,
  parseObjective,
  parseShare,
  type RateStage,
  warped,
} from '../scenario.ts';
import { UsageError } from './exit.ts';

/** Times that may be 0. */
const mayBeNothing = new Set(['--think', '--warm-up', '--retry-back-off']);

/** Reads what was typed and keeps every mistake. What it gives for a mistake stands in for it until `finish`. */
export class FlagReader {
  readonly #wrong: string[] = [];

  get isFine(): boolean {
    return this.#wrong.length === 0;
  }

  wrong(message: string): void {
    this.#wrong.push(message);
  }

  finish(): void {
    if (this.#wrong.length > 0) throw new UsageError(this.#wrong.join('\n'));
  }

  /** `flag` is empty for the address itself. */
  url(address: string, flag = '', such = 'http://127.0.0.1:8080/path'): URL | undefined {
    const url = URL.parse(address);
    const where = flag === '' ? '' : `${flag}: `;
    if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
    const hasScheme = /^\w+:\/\//.test(address);
    if (url !== null && hasScheme) {
      this.wrong(`${where}${address}: ${url.protocol.slice(0, -1)} is not supported; expected http or https`);
    } else {
      const meant = !hasScheme && URL.canParse(`http://${address}`) ? `http://${address}` : such;
      this.wrong(`${where}"${address}" is no URL; expected one such as ${meant}`);
    }
    return undefined;
  }

  /** `10`, `2k`, `1M`. */
  count(flag: string, text: string): number {
    const found = /^(\d+(?:\.\d+)?)([kKmM]?)$/.exec(text);
    const unit = { '': 1, k: 1e3, m: 1e6 }[(found?.[2] ?? '').toLowerCase()] ?? 1;
    const value = found === null ? Number.NaN : Number(found[1]) * unit;
    if (Number.isInteger(value) && value >= 1) return value;
    this.wrong(`${flag}: found "${text}", expected a whole number such as 64 or 2k`);
    return 1;
  }

  countUpTo(flag: string, text: string, most: number): number {
    const count = this.count(flag, text);
    if (count <= most) return count;
    this.wrong(`${flag}: found "${text}", expected ${most} at most`);
    return 1;
  }

  share(flag: string, text: string): number {
    const found = parseShare(text);
    if (found !== undefined) return found;
    this.wrong(`${flag}: found "${text}", expected a share such as 10%`);
    return 0;
  }

  rate(flag: string, text: string): number {
    const value = Number(text.replace(/\/s$/, '').replace(/k$/i, 'e3'));
    if (value > 0 && Number.isFinite(value)) return value;
    this.wrong(`${flag}: found "${text}", expected so many a second, such as 500, 2k or 250/s`);
    return 1;
  }

  /** `30s:2000`: after so long the rate is there. */
  stage(text: string): RateStage {
    const colon = text.lastIndexOf(':');
    if (colon < 1) {
      this.wrong(`--stage: found "${text}", expected a duration and a rate, such as 30s:2000`);
      return { over: ms(0), toPerSecond: 0 };
    }
    const [over, to] = [text.slice(0, colon), text.slice(colon + 1)];
    const found = over === '0' ? ms(0) : this.time('--stage', over);
    return { over: found, toPerSecond: /^0+(?:\.0+)?(?:\/s)?$/.test(to) ? 0 : this.rate('--stage', to) };
  }

  /** RFC 9110, 9.1: a token. h2load's `-m 32` is none of our methods. */
  method(text: string): string {
    if (/^[A-Za-z][A-Za-z-]*$/.test(text)) return text.toUpperCase();
    const meant = /^\d+$/.test(text) ? ` (for streams of HTTP/2 say --streams ${text})` : '';
    this.wrong(`--method: found "${text}", expected a method such as GET or POST${meant}`);
    return 'GET';
  }

  /** As wrk does, a bare number is of seconds. */
  time(flag: string, text: string): Duration {
    const found = parseDuration(/^\d+$/.test(text) ? `${text}s` : text);
    if (found !== undefined && (found > 0 || mayBeNothing.has(flag))) return found;
    this.wrong(`${flag}: found "${text}", expected a duration such as 30s, 500ms or 2m`);
    return ms(1);
  }

  /** A time as above, or a distribution as a scenario has it. */
  pause(flag: string, text: string): Distribution {
    return parseDistribution(text) ?? constant(this.time(flag, text));
  }

  headers(lines: readonly string[], flag = '--header'): Readonly<Record<string, string>> {
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const colon = line.indexOf(':');
      // RFC 9110, 5.1: a name is a token.
      if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+\s*:/.test(line) || /[\r\n\0]/.test(line))
        this.wrong(`${flag}: found "${line}", expected "name: value"`);
      else headers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim();
    }
    return headers;
  }

  objectives(lines: readonly string[]): readonly Objective[] {
    return lines.flatMap((line) => {
      // A colon within braces belongs to the filter: http_req_duration{replica:api-2}: p(95)<200.
      const colon = /:(?![^{]*\})/.exec(line)?.index ?? -1;
      const parsed =
        colon === -1
          ? 'expected a metric and an expression such as "http_req_duration: p(95)<200"'
          : parseObjective(line.slice(0, colon).trim(), line.slice(colon + 1));
      if (typeof parsed !== 'string') return [parsed];
      this.wrong(`--objective "${line}": ${parsed}`);
      return [];
    });
  }

  times(requests: readonly SourceRequest[], speed: string, rate: number | undefined): readonly Duration[] {
    if (rate !== undefined)
      this.wrong('--replay and --rate: the times of the requests are their rate; leave one of them out');
    const times = requests.flatMap(({ at }) => at ?? []);
    if (requests.length === 0 || times.length < requests.length) {
      this.wrong('--replay needs requests with times: an access log or a HAR, given with --from');
      return [];
    }
    return warped(times, this.rate('--speed', speed));
  }
}
