// net: sockets behind one small interface. Acts.

export { chooseEngine, type ChosenEngine, type EngineChoice } from './net/choose-engine.ts';
export * from './net/engine.ts';
export {
  connectHttp2,
  type Http2Answer,
  type Http2Failure,
  type Http2Fields,
  type Http2Link,
  type Http2LinkHandler,
  type Http2Request,
} from './net/http2-client.ts';
export { nodeEngine, type NodeEngineOptions } from './net/node-engine.ts';
export { uringEngine, type UringEngineOptions } from './net/uring/uring-engine.ts';
export {
  type CertificateProblem,
  certificateProblems,
  type ServerCertificate,
  ServerTls,
  type ServerTlsSettings,
  ticketKeyBytes,
  type TlsVersion,
} from './net/server-tls.ts';
export { streamOf, type SocketStream } from './net/socket-stream.ts';
