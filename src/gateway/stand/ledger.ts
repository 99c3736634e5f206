// A crowd of clients that keeps asking while something is done to the gateway, and a ledger of every request: what was planned is
// answered, by whom, or failed, with the reason. Half of the clients keep their connection, half open a new one each time.

import http from 'node:http';

export interface Ledger {
  readonly planned: number;
  /** Answers of 200 whose body was the number of their request. */
  readonly answered: number;
  /** Every other end, in words. */
  readonly failed: readonly string[];
}

export interface Crowd {
  /** Requests answered so far. */
  readonly answered: () => number;
  /** Waits until so many more have been answered. */
  more(count: number): Promise<void>;
  /** Ends the crowd and balances the ledger. */
  stop(): Promise<Ledger>;
  /** Stops as well, when the test has failed before. */
  [Symbol.dispose](): void;
}

/** `port` is asked anew for each connection. The endpoints must answer with the path that they were asked for: `numbered`. */
export function crowd(port: () => number, users = 16): Crowd {
  const agent = new http.Agent({ keepAlive: true });
  const failed: string[] = [];
  let planned = 0;
  let answered = 0;
  const state = { stopped: false };
  const user = async (_: unknown, index: number): Promise<void> => {
    while (!state.stopped) {
      const path = `/${++planned}`;
      const problem = await ask(port(), path, index % 2 === 0 ? agent : false);
      if (problem === undefined) answered += 1;
      else failed.push(`${path}: ${problem}`);
    }
  };
  const done = Promise.all(Array.from({ length: users }, user));
  return {
    answered: () => answered,
    more: async (count) => {
      const goal = answered + failed.length + count;
      while (answered + failed.length < goal) await new Promise((resolve) => setImmediate(resolve));
    },
    stop: async () => {
      state.stopped = true;
      await done;
      agent.destroy();
      return { planned, answered, failed };
    },
    [Symbol.dispose]: () => void (state.stopped = true),
  };
}

/** For `httpEndpoint`: answers with the path it was asked for. */
export function numbered(request: http.IncomingMessage, response: http.ServerResponse): void {
  response.end(request.url);
}

function ask(port: number, path: string, agent: http.Agent | false): Promise<string | undefined> {
  return new Promise((resolve) => {
    const request = http.get({ host: '127.0.0.1', port, path, agent }, (response) => {
      let body = '';
      response.on('data', (piece: Buffer) => (body += piece.toString('latin1')));
      response.on('error', (error) => resolve(`broke off: ${error.message}`));
      response.on('end', () => {
        if (response.statusCode === 200 && body === path) resolve(undefined);
        else resolve(`${response.statusCode} ${body.trim()}`);
      });
    });
    request.on('error', (error) => {
      // A kept connection that was closed just as it was taken up again: a client opens another and asks again (RFC 9112
      // section 9.3.1), as every user agent does.
      const raced = request.reusedSocket && 'code' in error && error.code === 'ECONNRESET';
      if (raced) resolve(ask(port, path, false));
      else resolve(error.message);
    });
  });
}
