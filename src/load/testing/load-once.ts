// One run of the driver for the bench: closed users without a think time against a port of this machine. After two seconds
// in which the compiler warms up it prints what the rest cost, as a line of JSON.
//
//   node src/load/testing/load-once.ts PORT CONNECTIONS SECONDS [ENGINE]

import { after, ms, seconds, type Instant } from '../../base.ts';
import { chooseEngine, type Engine, type EngineChoice } from '../../net.ts';
import { startLoad } from '../run.ts';
import { constant } from '../../scenario.ts';

const [port = '80', connections = '64', length = '5', wanted = 'auto'] = process.argv.slice(2);
const choice: EngineChoice = wanted === 'node' || wanted === 'uring' ? wanted : 'auto';

async function main(): Promise<void> {
  const chosen = chooseEngine(choice, { waitsInRing: true });
  if ('impossible' in chosen) {
    console.error(chosen.impossible);
    process.exit(3);
  }
  const { engine } = chosen;
  const run = startLoad(
    {
      groups: [
        {
          group: 'bench',
          demand: {
            kind: 'closed',
            clients: 'bench',
            users: Number(connections),
            think: constant(ms(0)),
            flow: [{ method: 'GET', path: '/', headers: {}, body: undefined }],
          },
          targets: [{ id: 'nginx', host: '127.0.0.1', port: Number(port) }],
          choice: 'round-robin',
          timeout: seconds(10),
        },
      ],
      seed: 1,
    },
    engine,
  );
  await wait(engine, after(engine.now(), seconds(2)));
  run.snapshot();
  run.measure();
  const before = process.cpuUsage();
  const from = engine.now();
  for (let second = 1; second <= Number(length); second++) {
    await wait(engine, after(from, seconds(second)));
    run.snapshot();
  }
  const { user, system } = process.cpuUsage(before);
  const took = engine.now() - from;
  const result = await run.stop(ms(500));
  const requests = result.ledgers[0]?.answered ?? 0;
  const cpu = { cpuSeconds: (user + system) / 1e6, userSeconds: user / 1e6, systemSeconds: system / 1e6 };
  const told = { requests, ...cpu, seconds: took / 1e9, ledger: result.ledgers[0] };
  console.log(JSON.stringify({ ...told, rss: process.memoryUsage.rss(), limits: result.limits }));
  await engine.close();
}

const wait = (engine: Engine, until: Instant): Promise<void> =>
  new Promise((resolve) => {
    engine.alarm(until, () => resolve());
  });

await main();
