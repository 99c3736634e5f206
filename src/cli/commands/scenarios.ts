// `plimsoll scenarios`: what can be run by name.

import { z } from 'zod';
import { builtinScenarios, didYouMean } from '../../scenario.ts';
import { loadScenario } from '../load-scenario.ts';
import { exit, type ExitCode, UsageError } from '../exit.ts';

const flags = z.object({ print: z.string().optional() });

export function scenarios(options: object): ExitCode {
  const { print } = flags.parse(options);
  if (print !== undefined) {
    const found = builtinScenarios.find((one) => one.name === print);
    if (found === undefined) {
      const names = builtinScenarios.map((one) => one.name);
      throw new UsageError(
        `no built-in scenario is called "${print}".${didYouMean(print, names)} There are ${names.join(', ')}`,
      );
    }
    process.stdout.write(found.text);
    return exit.ok;
  }
  const width = Math.max(...builtinScenarios.map((one) => one.name.length));
  for (const { name } of builtinScenarios) {
    const { scenario } = loadScenario(name, []);
    process.stdout.write(`${name.padEnd(width)}  ${scenario.about}\n`);
  }
  return exit.ok;
}
