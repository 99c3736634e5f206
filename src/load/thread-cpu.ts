// The CPU time of the thread that asks: user and system.

import { type Duration, us } from '../base.ts';

export function threadCpu(): Duration {
  const usage = process.threadCpuUsage();
  return us(usage.user + usage.system);
}
