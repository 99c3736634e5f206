// The flags of `plimsoll load` that say where a run is told besides the screen.

import { type LoadPlan, Outputs, type OutputsWanted } from '../load.ts';
import { UsageError } from './exit.ts';
import { FlagReader } from './flag-reader.ts';
import type { LoadCommandFlags } from './load-flags.ts';
import { version } from './version.ts';

/** Throws a `UsageError` that names everything that is wrong with them. `where`: what is loaded. */
export async function openOutputs(given: LoadCommandFlags, plan: LoadPlan, where: string): Promise<Outputs> {
  const reader = new FlagReader();
  const { csv, hgrm, hlog, record } = given;
  const wanted: OutputsWanted = {
    csv,
    hgrm,
    hlog,
    otlp: otlpOf(given, reader),
    prometheus: given.prometheus === undefined ? undefined : listenAt(given.prometheus, reader),
    record: record === undefined ? undefined : { file: record, plan, where },
    groups: plan.groups.map(({ group }) => group),
    resource: { 'service.name': 'plimsoll', 'plimsoll.target': where },
    version,
  };
  reader.finish();
  const opened = await Outputs.open(wanted);
  if ('problems' in opened) throw new UsageError(opened.problems.join('\n'));
  return opened;
}

function otlpOf({ otlp, otlpHeader }: LoadCommandFlags, reader: FlagReader): OutputsWanted['otlp'] {
  if (otlp === undefined) {
    if (otlpHeader !== undefined) reader.wrong('--otlp-header needs --otlp: the address of the collector');
    return undefined;
  }
  const address = reader.url(otlp, '--otlp', 'http://127.0.0.1:4318');
  return address === undefined ? undefined : { address, headers: reader.headers(otlpHeader ?? [], '--otlp-header') };
}

/** `9091`, `:9091` or `0.0.0.0:9091`; without a host only this machine is served. */
function listenAt(text: string, reader: FlagReader): OutputsWanted['prometheus'] {
  const found = /^(?:(?:\[([\da-fA-F:.]+)\]|([^:[\]]*)):)?(\d{1,5})$/.exec(text);
  const port = Number(found?.[3]);
  if (found === null || port > 65_535) {
    reader.wrong(`--prometheus: found "${text}", expected a port or an address such as 9091 or 0.0.0.0:9091`);
    return undefined;
  }
  const [, six, name] = found;
  return { host: six ?? (name === undefined || name === '' ? '127.0.0.1' : name), port };
}
