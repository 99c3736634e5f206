// One question to a process's admin port, with a timeout: a process that stands still accepts the connection and never
// answers.

import { type Agent, request } from 'node:http';
import { type Duration, formatDuration, inMs } from '../base.ts';
import { LabError } from './lab-error.ts';

export interface Question {
  readonly agent: Agent;
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** Posted as JSON; without it the question is a GET. */
  readonly body?: unknown;
  readonly timeout: Duration;
}

/** The body of the answer. Rejects with a `LabError` on anything but a 2xx in time. */
export function ask(question: Question): Promise<string> {
  const { agent, host, port, path, body, timeout } = question;
  const where = `${host}:${port}${path}`;
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new LabError(`${where} ${why}`));
    const asking = request({ agent, host, port, path, method: body === undefined ? 'GET' : 'POST' }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (text += part));
      response.on('error', (error) => fail(`broke off: ${error.message}`));
      response.on('end', () => {
        clearTimeout(timer);
        const code = response.statusCode ?? 0;
        if (code >= 200 && code < 300) resolve(text);
        else fail(`answered ${code}: ${text.trim()}`);
      });
    });
    const timer = setTimeout(() => {
      fail(`did not answer within ${formatDuration(timeout)}`);
      asking.destroy();
    }, inMs(timeout));
    asking.on('error', (error) => {
      clearTimeout(timer);
      fail(`did not answer: ${error.message}`);
    });
    if (body !== undefined) asking.setHeader('content-type', 'application/json');
    asking.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
