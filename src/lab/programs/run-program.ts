// How each of the lab's own programs begins and ends. It reads the configuration that its one argument names, says in one
// line on stdout that it is ready, and ends when its stdin does: whoever started it is gone then, however that happened.

import { readFileSync } from 'node:fs';
import { isReplicaConfiguration } from './replica-configuration.ts';
import { serve } from './serving.ts';

export async function runProgram(): Promise<void> {
  const path = process.argv[2];
  if (path === undefined) {
    console.error('usage: node replica.ts CONFIGURATION.json');
    process.exit(2);
  }
  process.stdin.on('end', () => process.exit(0));
  process.stdin.on('error', () => process.exit(0));
  process.stdin.resume();
  try {
    const configuration: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (!isReplicaConfiguration(configuration)) throw new Error(`${path} is not the configuration of a replica`);
    const { port, adminPort } = await serve(configuration);
    process.stdout.write(`${JSON.stringify({ ready: true, port, admin_port: adminPort })}\n`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
}
