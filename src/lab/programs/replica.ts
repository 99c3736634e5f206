// One replica of a service, as a program: `node replica.ts CONFIGURATION.json`. See serving.ts for what it does.

import { runProgram } from './run-program.ts';

await runProgram();
