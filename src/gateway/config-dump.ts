// The configuration in force as plain data, for whoever asks what this gateway was told. What is nobody's business but the
// gateway's is hidden: the values of header fields sent to collectors. (Keys and certificates are files: their paths are shown.)

import type { GatewayConfig } from './config.ts';

const hidden = '(hidden)';

export function configDump(config: GatewayConfig, present: Partial<GatewayConfig>): unknown {
  const { observe } = config;
  const otlp =
    observe.otlp === undefined
      ? undefined
      : { ...observe.otlp, headers: Object.fromEntries(Object.keys(observe.otlp.headers).map((key) => [key, hidden])) };
  return { ...config, ...present, observe: { ...observe, otlp } };
}
