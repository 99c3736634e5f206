// `plimsoll check CONFIG…`: what would go wrong by these settings, before anything has run.

import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import { type Finding, preflight, type Preflight, preflightScenario, ruleOfUnsafe } from '../../diagnose.ts';
import { type ConfigProblem, describeProblem, parseGatewayConfig } from '../../gateway.ts';
import { readDossier } from '../../observe.ts';
import { unsafeNames } from '../../policy.ts';
import { preflightText, sarif } from '../../report.ts';
import { builtinScenarios, formatProblem, parseScenario, readSource } from '../../scenario.ts';
import { exit, type ExitCode, UsageError } from '../exit.ts';
import { openFiles } from '../open-files.ts';
import { columnsOf, paintFor } from '../terminal.ts';
import { version } from '../version.ts';

const positive = (what: string) =>
  z.coerce.number({ error: `expected ${what}` }).positive({ error: `expected ${what} above 0` });
const flags = z.object({
  rate: positive('requests a second').optional(),
  spare: positive('a factor').default(1.5),
  json: z.boolean().default(false),
  sarif: z.string().optional(),
});

/** Exit code 0: nothing but notes. 1: errors or warnings. Throws `UsageError` (2) for what cannot be read. */
export async function check(paths: readonly string[], options: object): Promise<ExitCode> {
  const parsed = flags.safeParse(options);
  if (!parsed.success) {
    throw new UsageError(parsed.error.issues.map(({ path, message }) => `--${path.join('.')}: ${message}`).join('\n'));
  }
  const { rate, spare, json, sarif: target } = parsed.data;
  const files: ConfigFile[] = [];
  for (const path of paths) files.push(...(await named(path)));
  const result = checked(files, { rate, spare });
  if (target !== undefined) {
    const text = `${JSON.stringify(sarif(result, version), undefined, 2)}\n`;
    if (target === '-') process.stdout.write(text);
    else writeFileSync(target, text);
  }
  if (json) process.stdout.write(`${JSON.stringify({ schema: 'plimsoll.dev/check/v1', ...result }, undefined, 2)}\n`);
  else if (target !== '-') {
    process.stdout.write(`${preflightText(result, columnsOf(process.stdout), paintFor(process.stdout)).join('\n')}\n`);
  }
  return result.findings.some(({ severity }) => severity !== 'note') ? exit.findings : exit.ok;
}

interface ConfigFile {
  readonly path: string;
  readonly text: string;
}

/** Nobody writes a longer configuration; a log given by mistake is not read to its end. */
const configMax = 32 * 1024 * 1024;

/** A file, all files of a folder, or a built-in scenario by its name. */
async function named(path: string): Promise<ConfigFile[]> {
  const builtin = builtinScenarios.find(({ name }) => name === path);
  if (builtin !== undefined) return [{ path: `${path} (built in)`, text: builtin.text }];
  const files: ConfigFile[] = [];
  for (const opened of await openFiles([path])) {
    const pieces: Buffer[] = [];
    let length = 0;
    for await (const piece of opened.pieces) {
      pieces.push(Buffer.from(piece));
      length += piece.length;
      if (length > configMax) throw new UsageError(`${opened.path}: more than 32 MiB; expected a configuration`);
    }
    files.push({ path: opened.path, text: Buffer.concat(pieces).toString('utf8') });
  }
  return files;
}

function checked(files: readonly ConfigFile[], facts: { rate: number | undefined; spare: number }): Preflight {
  const kinds = Map.groupBy(files, ({ text }) => kindOf(text));
  const own = [
    ...(kinds.get('scenario') ?? []).flatMap((file) => scenarioFindings(file, facts.spare)),
    ...(kinds.get('gateway') ?? []).flatMap(gatewayFindings),
  ];
  const foreign = kinds.get('foreign') ?? [];
  if (foreign.length === 0) return { findings: own, unchecked: [] };
  const { dossier, problems } = readDossier(foreign.map(({ path, text }) => ({ name: path, text })));
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length > 0 && dossier.sources.length === 0) throw new UsageError('there is no configuration in there');
  const bare = dossier.sources.filter(({ file }) => !dossier.settings.some(({ origin }) => origin.file === file));
  for (const { file, format } of bare) {
    process.stderr.write(`${file}: ${format} without a setting; plimsoll diagnose reads what happened\n`);
  }
  if (dossier.settings.length === 0 && own.length === 0 && files.length === foreign.length) {
    throw new UsageError('none of these files has a setting to check; expected configurations');
  }
  const { findings, unchecked } = preflight(dossier, {
    ...(facts.rate === undefined ? {} : { ratePerSecond: facts.rate }),
    spare: facts.spare,
    order: foreign.map(({ path }) => path),
  });
  return { findings: [...own, ...findings], unchecked };
}

function kindOf(text: string): 'scenario' | 'gateway' | 'foreign' {
  if (/^\s*(?:"plimsoll"|plimsoll)\s*:\s*1\b/m.test(text.slice(0, 4000)) && !/plimsoll_notes/.test(text))
    return 'scenario';
  const keys = ['listen', 'endpoints'].every((key) => new RegExp(String.raw`^\s{0,2}"?${key}"?\s*:`, 'm').test(text));
  return keys && !/^\s*(?:apiVersion|kind)\s*:/m.test(text) ? 'gateway' : 'foreign';
}

function scenarioFindings({ path, text }: ConfigFile, spare: number): readonly Finding[] {
  const parsed = parseScenario(text, path);
  if ('problems' in parsed) throw new UsageError(parsed.problems.map(formatProblem).join('\n'));
  const source = readSource(text, path, []);
  return preflightScenario(parsed.scenario, { file: path, lineOf: (place) => source.at(place, '').line, spare });
}

function gatewayFindings({ path, text }: ConfigFile): readonly Finding[] {
  const parsed = parseGatewayConfig(text, path);
  if (parsed.ok) return [];
  const unsafe = parsed.problems.map((problem) => ({ problem, finding: unsafeFinding(problem, path) }));
  const mistakes = unsafe.filter(({ finding }) => finding === undefined);
  if (mistakes.length > 0) throw new UsageError(mistakes.map(({ problem }) => describeProblem(problem)).join('\n'));
  return unsafe.flatMap(({ finding }) => finding ?? []);
}

/** `unsafe: ARITHMETIC; right would be INSTEAD; or allow it by name: unsafe: [NAME]`, at `file:line:column`. */
function unsafeFinding({ where, message }: ConfigProblem, file: string): Finding | undefined {
  const found = /^unsafe: (.*); right would be (.*); or allow it by name: unsafe: \[([\w-]+)\]$/s.exec(message);
  const name = unsafeNames.find((one) => one === found?.[3]);
  if (found === null || name === undefined) return undefined;
  const line = Number(/:(\d+):\d+$/.exec(where)?.[1] ?? 1);
  return {
    rule: ruleOfUnsafe[name],
    severity: 'error',
    where: { file, line },
    also: [],
    because: found[1] ?? '',
    instead: found[2] ?? '',
  };
}
