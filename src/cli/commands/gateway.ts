// `plimsoll gateway FILE`: our own gateway in this process, until a signal or the end of standard input.

import { runGatewayProcess } from '../../gateway.ts';

export function gateway(file: string): Promise<number> {
  return runGatewayProcess(file);
}
