// One scenario in the lab through our gateway with settings of one's choice, and what came of it: the figures of the judged part,
// answers by second, and the gateway's own page at the end. The gateway is started with `testing/gateway-with.ts`, which adds what a
// scenario has no words for.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seconds } from '../base.ts';
import { startLab } from '../lab.ts';
import { nodeEngine } from '../net.ts';
import { type PhaseRecord, type RecordLine, recordOf, recordVersion } from '../record.ts';
import { baselineOf, type Scenario } from '../scenario.ts';
import { environmentOf } from '../host.ts';
import { labWorld } from './lab-world.ts';

export interface Play {
  readonly phase: PhaseRecord;
  /** The gateway's metrics page after the last answer. */
  readonly page: string;
}

/** `settings`: keys of the gateway's configuration, over what the scenario says. Rejects with a `LabError`. */
export async function playThroughGateway(scenario: Scenario, settings: object, seed: number): Promise<Play> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-plays-'));
  const engine = nodeEngine();
  try {
    const starter = join(import.meta.dirname, 'testing', 'gateway-with.ts');
    const command = [process.execPath, '--disable-warning=ExperimentalWarning', starter, JSON.stringify(settings)];
    const lab = await startLab({
      topology: scenario.topology,
      seed,
      gateway: 'plimsoll',
      gatewayCommand: command,
      folder,
      onEvent: () => {},
    });
    const from = process.hrtime.bigint();
    const now = (): number => Number(process.hrtime.bigint() - from);
    const world = labWorld({ scenario, lab, engine, seed, now });
    try {
      const lines: RecordLine[] = [header(scenario, seed)];
      lines.push({ kind: 'topology', at_ns: now(), ...world.topology() });
      const baseline = baselineOf(scenario);
      const at_ns = now();
      lines.push({ kind: 'phase', at_ns, name: baseline.name, measure_from_ns: at_ns + baseline.warmUp });
      await world.play(baseline, (line) => void lines.push(line), new AbortController().signal);
      const page = (await lab.scrape(seconds(2))).gateway?.text ?? '';
      const phase = recordOf(lines).phases[0];
      if (phase === undefined) throw new Error('the lab recorded no phase');
      return { phase, page };
    } finally {
      await world.close();
    }
  } finally {
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function header(scenario: Scenario, seed: number): RecordLine {
  return {
    kind: 'header',
    format: 'plimsoll-record',
    version: recordVersion,
    id: scenario.name,
    started_at: new Date().toISOString(),
    world: 'lab',
    scenario: scenario.name,
    seed,
    environment: environmentOf({ plimsoll: 'working tree' }),
  };
}
