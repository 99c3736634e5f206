// gateway: the data plane: listeners, connections, the life of a request, the admin API. Acts.

export {
  type Address,
  type ConfigProblem,
  defaultLimits as defaultGatewayLimits,
  describeProblem,
  type GatewayConfig,
  type GatewayLimits,
  type HealthConfig,
  parseGatewayConfig,
  type ParsedConfig,
} from './gateway/config.ts';
export { runGatewayProcess } from './gateway/process.ts';
export { type RunningGateway, startGateway } from './gateway/start.ts';
export { type WayOut, waysOut } from './gateway/ways-out.ts';
