// One incident on real processes, and what an engineer on call would find afterwards: the balancer's log, its configuration and its
// statistics, two scrapes of every replica, the kernel's counters of those with a quota, the registry's list. What was injected is in
// none of it.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dice, seconds } from '../../../base.ts';
import { type Lab, type LabScrape, startLab } from '../../../lab.ts';
import { nodeEngine } from '../../../net.ts';
import { baselineOf, builtinScenarios, parseForLab, type Scenario } from '../../../scenario.ts';
import { labWorld } from '../../lab-world.ts';
import type { Made } from '../kind.ts';
import { csv, type Signal } from '../writers.ts';
import type { LabCase } from './cases.ts';

/** Plays it and returns the evidence. Rejects with a `LabError` where a program is missing. */
export async function playIncident(labCase: LabCase, seed: number): Promise<Made> {
  const { scenario: name, settings, culprit } = labCase.draw(dice(seed, `lab ${labCase.slug}`));
  const scenario = scenarioOf(name, settings);
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-incident-'));
  const engine = nodeEngine();
  try {
    const lab = await startLab({
      topology: scenario.topology,
      seed,
      gateway: labCase.gateway,
      gatewayCommand: gatewayCommand(folder),
      folder,
      onEvent: () => {},
    });
    const from = process.hrtime.bigint();
    const world = labWorld({ scenario, lab, engine, seed, now: () => Number(process.hrtime.bigint() - from) });
    try {
      const before = await readings(lab, 't0');
      await world.play(baselineOf(scenario), () => {}, new AbortController().signal);
      const after = await readings(lab, 't1');
      const signals = [...filesOf(folder, labCase), ...before, ...after, ...registryOf(scenario, lab)];
      const blamed = lab.replicas.find(({ id }) => id === culprit);
      const words = blamed === undefined ? [] : [blamed.id, `${blamed.host}:${blamed.port}`, ...(labCase.blame ?? [])];
      return {
        signals,
        onsetMs: Date.now() - 8000,
        culprit: words,
      };
    } finally {
      await world.close();
    }
  } finally {
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function scenarioOf(name: string, settings: readonly string[]): Scenario {
  const source = builtinScenarios.find((one) => one.name === name)?.text ?? '';
  const parsed = parseForLab(source, name, settings);
  if ('scenario' in parsed) return parsed.scenario;
  throw new Error(`${name} with ${settings.join(' ')}: ${parsed.problems.map(({ message }) => message).join('; ')}`);
}

/** Our gateway writes a log when it is told to; the lab tells the others. */
function gatewayCommand(folder: string): readonly string[] {
  const starter = join(import.meta.dirname, '..', '..', 'testing', 'gateway-with.ts');
  const settings = { access_log: { path: join(folder, 'gateway-access.log'), format: 'envoy' } };
  return [process.execPath, '--disable-warning=ExperimentalWarning', starter, JSON.stringify(settings)];
}

/** Names under which a person would keep them. */
const kept: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^gateway-access\.log$/, 'gateway-access.log'],
  [/^baseline\.log$/, 'balancer.log'],
  [/^baseline-stats\.csv$/, 'haproxy-stats.csv'],
  [/^gateway-haproxy\.cfg$/, 'haproxy.cfg'],
  [/^gateway-nginx\.conf$/, 'nginx.conf'],
  [/^gateway-plimsoll\.json$/, 'gateway.json'],
  [/^error\.log$/, 'nginx-error.log'],
];

function filesOf(folder: string, { gateway }: LabCase): readonly Signal[] {
  const own = join(folder, 'lab');
  const places = [folder, own, join(own, `gateway-${gateway}`)].filter((place) => existsSync(place));
  return places.flatMap((place) =>
    readdirSync(place, { withFileTypes: true }).flatMap((entry): Signal[] => {
      const name = kept.find(([pattern]) => pattern.test(entry.name))?.[1];
      if (name === undefined || !entry.isFile()) return [];
      const text = readFileSync(join(place, entry.name), 'utf8');
      return text === '' ? [] : [{ name, text }];
    }),
  );
}

/** Every replica's metrics under its name, as a collector would keep them; our gateway's; and `cpu.stat` of whoever has a quota. */
async function readings(lab: Lab, when: string): Promise<readonly Signal[]> {
  const scrape = await lab.scrape(seconds(2));
  const counters = lab.replicas.flatMap(({ id, pid, cpuQuota }) =>
    cpuQuota === undefined ? [] : [`==> /sys/fs/cgroup/cpu/${id}/cpu.stat <==\n${cpuStatOf(pid)}`],
  );
  return [
    { name: `replicas-${when}.prom`, text: labelled(scrape) },
    ...(scrape.gateway?.program === 'plimsoll' ? [{ name: `gateway-${when}.prom`, text: scrape.gateway.text }] : []),
    ...(counters.length === 0 ? [] : [{ name: `cpu.stat-${when}.txt`, text: counters.join('\n') }]),
  ];
}

/** All replicas' pages as one: a label tells them apart, and what a metric is is said once. */
function labelled({ replicas }: LabScrape): string {
  const said = new Set<string>();
  const lines = [...replicas].flatMap(([id, text]) =>
    text.split('\n').flatMap((line): string[] => {
      if (line === '' || said.has(line)) return [];
      if (line.startsWith('#')) {
        said.add(line);
        return [line];
      }
      return [line.replace(/^(\w+)(?:\{(.*)\})?/, (_, name: string, labels = '') => withPod(name, String(labels), id))];
    }),
  );
  return `${lines.join('\n')}\n`;
}

const withPod = (name: string, labels: string, id: string): string =>
  `${name}{pod="${id}"${labels === '' ? '' : `,${labels}`}}`;

/** Where the kernel keeps it is found by the process, as `/proc` shows it. */
function cpuStatOf(pid: number): string {
  for (const line of readFileSync(`/proc/${pid}/cgroup`, 'utf8').split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    const isCpu = controllers === '' || controllers.split(',').includes('cpu');
    const file = join('/sys/fs/cgroup', controllers === '' ? '' : 'cpu', path, 'cpu.stat');
    if (isCpu && existsSync(file)) return readFileSync(file, 'utf8');
  }
  return '';
}

/** Clients that ask the replicas themselves have a list of them. */
function registryOf({ topology }: Scenario, lab: Lab): readonly Signal[] {
  const services = new Set(topology.clients.filter(({ via }) => via === 'registry').map(({ service }) => service));
  return [...services].map((service) =>
    csv(
      'registry.csv',
      ['place', 'endpoint', 'address'],
      lab.replicas
        .filter((replica) => replica.service === service)
        .map(({ id, host, port }, place) => [place, id, `${host}:${port}`]),
    ),
  );
}
