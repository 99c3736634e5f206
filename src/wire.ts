// wire: bytes to events and back, for the formats we own. Pure.

export {
  type BodyLength,
  continueResponse,
  encodeChunk,
  encodeRequest,
  encodeResponse,
  isTarget,
  isText,
  isToken,
  lastChunk,
  reasonOf,
  type RequestParts,
  type ResponseParts,
  writeBytes,
  writeChunkSize,
  writeContentLength,
  writeDecimal,
  writeField,
  writeLineEnd,
  writeStatusLine,
  writeText,
} from './wire/http1/encode.ts';
export * from './wire/http1/events.ts';
export { FieldNames, notForwarded } from './wire/http1/field-names.ts';
export { requestReader } from './wire/http1/request-reader.ts';
export { responseReader } from './wire/http1/response-reader.ts';
export { addressBytes, addressText } from './wire/proxy-protocol/ip-text.ts';
export {
  type ConnectionEnds,
  encodePreamble,
  type Preamble,
  type PreambleVersion,
  readPreamble,
} from './wire/proxy-protocol/preamble.ts';
export { formatTraceParent, parseTraceParent, type TraceParent, traceStateForwarded } from './wire/trace-context.ts';
