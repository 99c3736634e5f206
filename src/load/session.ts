// What one user knows while it walks its flow: variables read from answers, and cookies. Steps that need neither are ready
// bytes made before the run and never come here; a step that does is put together for each request, which costs some
// microseconds and a few hundred bytes.

import type { Step } from '../scenario.ts';
import type { AnswerFields, Reading } from './carrier.ts';
import type { LoadTarget } from './contract.ts';
import { CookieJar } from './cookie-jar.ts';
import { fromBody, fromHead, needsBody } from './extract.ts';
import { type HttpVersion, type ReadyRequest, readyRequest } from './request-bytes.ts';
import { literal, template, type Template } from './template.ts';

/** A body from which a variable is to be read is kept up to here; what lies beyond is not searched. */
const bodyBytesMax = 1024 * 1024;

/** A step with its texts cut up. */
export interface LiveStep {
  readonly step: Step;
  readonly path: Template;
  readonly headers: readonly (readonly [string, Template])[];
  readonly body: Template | undefined;
}

/** Undefined for a flow that is the same each time. */
export function liveSteps(flow: readonly Step[], cookies: boolean): readonly LiveStep[] | undefined {
  const steps = flow.map((step): LiveStep => {
    const cut = step.literal === true ? literal : template;
    return {
      step,
      path: cut(step.path),
      headers: Object.entries(step.headers).map(([name, value]) => [name, cut(value)] as const),
      body: step.body === undefined ? undefined : cut(step.body),
    };
  });
  return cookies || steps.some(isLive) ? steps : undefined;
}

function isLive({ step, path, headers, body }: LiveStep): boolean {
  const texts = [path, ...headers.map(([, value]) => value), ...(body === undefined ? [] : [body])];
  return (step.extract ?? []).length > 0 || texts.some((text) => text.variables.length > 0);
}

export class Session implements Reading {
  readonly #variables = new Map<string, string>();
  readonly #jar: CookieJar | undefined;
  #step: LiveStep | undefined;
  #path = '/';
  #keepsBody = false;
  #body: Uint8Array[] = [];
  #bodyBytes = 0;

  constructor(user: number, cookies: boolean) {
    this.#variables.set('user', String(user + 1));
    this.#jar = cookies ? new CookieJar() : undefined;
  }

  /** The flow begins anew: what the last round found is forgotten, cookies stay. */
  begin(iteration: number): void {
    const user = this.#variables.get('user') ?? '';
    this.#variables.clear();
    this.#variables.set('user', user);
    this.#variables.set('iteration', String(iteration));
  }

  /** The request for a step, or undefined when a variable that it names is not known. */
  compose(live: LiveStep, target: LoadTarget, version: HttpVersion): ReadyRequest | undefined {
    const { step } = live;
    const path = live.path.filledWith(this.#variables);
    const body = live.body?.filledWith(this.#variables);
    if (path === undefined || (live.body !== undefined && body === undefined)) return undefined;
    const headers: Record<string, string> = {};
    for (const [name, value] of live.headers) {
      const filled = value.filledWith(this.#variables);
      if (filled === undefined) return undefined;
      headers[name] = oneLine(filled);
    }
    const cookie = this.#jar?.field(path);
    if (cookie !== undefined) headers['Cookie'] = cookie;
    this.#step = live;
    this.#path = path;
    this.#keepsBody = (step.extract ?? []).some(needsBody);
    this.#body = [];
    this.#bodyBytes = 0;
    const filled = { method: step.method, path: asTarget(path), headers, body };
    return readyRequest(filled, target, version);
  }

  onHead(head: AnswerFields): void {
    if (this.#jar !== undefined) {
      head.each((name, value) => {
        if (name.toLowerCase() === 'set-cookie') this.#jar?.take(value, this.#path);
      });
    }
    for (const extraction of this.#step?.step.extract ?? []) {
      const value = fromHead(extraction, head);
      if (value !== undefined) this.#variables.set(extraction.variable, value);
    }
  }

  onBody(bytes: Uint8Array, from: number, to: number): void {
    if (!this.#keepsBody || this.#bodyBytes >= bodyBytesMax) return;
    const end = Math.min(to, from + bodyBytesMax - this.#bodyBytes);
    // A copy: `slice` of a Buffer would be a view of memory that is lent until we return.
    this.#body.push(new Uint8Array(bytes.subarray(from, end)));
    this.#bodyBytes += end - from;
  }

  onEnd(): void {
    if (!this.#keepsBody) return;
    const decoder = new TextDecoder();
    const text = this.#body.map((piece) => decoder.decode(piece, { stream: true })).join('') + decoder.decode();
    for (const extraction of this.#step?.step.extract ?? []) {
      const value = fromBody(extraction, text);
      if (value !== undefined) this.#variables.set(extraction.variable, value);
    }
    this.#body = [];
  }
}

/** Values come from a server: a line break in one must not become a header of ours. */
const oneLine = (text: string): string => text.replaceAll(/[\r\n\0]/g, ' ');

/** A request target has no spaces, control characters or anything beyond ASCII. */
const asTarget = (path: string): string =>
  path.replaceAll(/[^\x21-\x7e]/gu, (character) => (character === '\0' ? '%00' : encodeURIComponent(character)));
