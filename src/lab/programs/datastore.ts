// What services call, as a program: `node datastore.ts CONFIGURATION.json`. It is a replica that calls nobody, under a name of its
// own in the list of processes.

import { runProgram } from './run-program.ts';

await runProgram();
