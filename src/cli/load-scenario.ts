// A scenario by name or by file: the built-in ones by their names, anything that looks like a path from disk.

import { existsSync, readFileSync } from 'node:fs';
import { builtinScenarios, didYouMean, formatProblem, parseForLab, parseScenario, type Scenario } from '../scenario.ts';
import { UsageError } from './exit.ts';

export interface LoadedScenario {
  readonly scenario: Scenario;
  readonly warnings: readonly string[];
}

/** `forLab`: on the scale of the lab, where the scenario has one. Throws `UsageError` with every problem at once: file, line, column, what was found and what would be right. */
export function loadScenario(nameOrFile: string, settings: readonly string[], forLab = false): LoadedScenario {
  const { text, file } = textOf(nameOrFile);
  const parsed = forLab ? parseForLab(text, file, settings) : parseScenario(text, file, settings);
  if ('problems' in parsed) throw new UsageError(parsed.problems.map(formatProblem).join('\n'));
  return { scenario: parsed.scenario, warnings: parsed.warnings.map(formatProblem) };
}

/** Of something that may be a scenario or a record. What is neither is taken for the name of a scenario, which has neighbours to
 * propose. */
export const isScenario = (subject: string): boolean =>
  builtinScenarios.some(({ name }) => name === subject) || /\.ya?ml$/.test(subject) || !existsSync(subject);

function textOf(nameOrFile: string): { text: string; file: string } {
  const builtin = builtinScenarios.find((one) => one.name === nameOrFile);
  if (builtin !== undefined) return { text: builtin.text, file: `${builtin.name} (built in)` };
  if (!/[./\\]/.test(nameOrFile)) {
    const names = builtinScenarios.map((one) => one.name);
    throw new UsageError(
      `no built-in scenario is called "${nameOrFile}".${didYouMean(nameOrFile, names)} There are ${names.join(', ')}; ` +
        'one of your own is given by its path, such as ./my-scenario.yaml',
    );
  }
  try {
    return { text: readFileSync(nameOrFile, 'utf8'), file: nameOrFile };
  } catch (error) {
    throw new UsageError(`${nameOrFile}: ${reasonOf(error)}; expected the path of a scenario in YAML`);
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EISDIR') return 'that is a folder';
  if (code === 'EACCES') return 'the file may not be read';
  return error instanceof Error ? error.message : String(error);
}
