// An agent in a process of its own, to be killed and stopped by tests:  node agent-process.ts TOKEN VERSION WORKERS

import { startAgent } from '../machines/agent.ts';

const [token = '', version = '', workers = '1'] = process.argv.slice(2);
const agent = await startAgent({ host: '127.0.0.1', port: 0, token, version, workers: Number(workers) });
process.stdout.write(`${JSON.stringify({ ready: true, port: agent.port })}\n`);
// Whoever started us keeps our input open.
process.stdin.resume().on('end', () => process.exit());
