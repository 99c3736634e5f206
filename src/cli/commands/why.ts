// `plimsoll why REQUEST-ID`: asks a gateway why a request went where it went, in words. Exit code 0 when there is a story, 2 when
// there is none or nobody to ask.

import { exit, UsageError } from '../exit.ts';

export interface WhyOptions {
  /** Address of the gateway's admin API. */
  readonly admin: string;
  readonly json?: boolean;
}

export async function why(id: string, options: WhyOptions): Promise<number> {
  const base = adminUrl(options.admin);
  const asked = new URL(`why/${encodeURIComponent(id)}`, base);
  const answer = await ask(asked, options.json === true ? 'application/json' : 'text/plain');
  if (answer.ok) {
    process.stdout.write(options.json === true ? `${answer.text}\n` : answer.text);
    return exit.ok;
  }
  throw new UsageError(`plimsoll why: ${problemIn(answer.text) ?? `${asked.href} answered ${answer.status}`}`);
}

function adminUrl(text: string): URL {
  const url = /^https?:\/\//.test(text) ? text : `http://${text}`;
  try {
    return new URL(url.endsWith('/') ? url : `${url}/`);
  } catch {
    throw new UsageError(`plimsoll why: --admin: found ${text}, expected a URL such as http://127.0.0.1:9090`);
  }
}

async function ask(url: URL, accept: string): Promise<{ ok: boolean; status: number; text: string }> {
  try {
    const answer = await fetch(url, { headers: { accept }, signal: AbortSignal.timeout(5000) });
    return { ok: answer.ok, status: answer.status, text: await answer.text() };
  } catch {
    throw new UsageError(
      `plimsoll why: nobody answers at ${url.origin}; --admin tells where the gateway’s admin API is`,
    );
  }
}

function problemIn(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const problems = typeof value === 'object' && value !== null && 'problems' in value ? value.problems : undefined;
    return Array.isArray(problems) ? problems.join('; ') : undefined;
  } catch {
    return undefined;
  }
}
