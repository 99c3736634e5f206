// observe: readers of others' telemetry, one file a format. Acts.

export { type Exposition, parsePrometheus, type Sample, sampleOf } from './observe/parse/prometheus.ts';
export { type HaproxyRequest, parseHaproxyLine } from './observe/parse/haproxy-log.ts';
export {
  type HaproxyRow,
  type HaproxyStats,
  isHaproxyStats,
  parseHaproxyStats,
  statistic,
} from './observe/parse/haproxy-stats.ts';
export { type EnvoyHost, parseEnvoyClusters } from './observe/parse/envoy-clusters.ts';
export { nginxFormats, type NginxReader, nginxReader, recogniseNginx } from './observe/parse/nginx-access.ts';
export type { ReaderNotes, SeenRequest } from './observe/seen.ts';
export { requestsMax } from './observe/requests-of-table.ts';
export { type ForeignFile, type ForeignReading, readForeign } from './observe/read-files.ts';
export { type ForeignFacts, recordOfRequests } from './observe/record-of-requests.ts';
export {
  type DossierFile,
  type DossierReading,
  readDossier,
  readDossierStreams,
  type StreamedFile,
} from './observe/dossier.ts';
export { notesJsonSchema } from './observe/parse/notes/schema.ts';
export { notesVocabulary } from './observe/parse/notes/vocabulary.ts';
export { parseNotes, type ParsedNotes } from './observe/parse/notes/notes.ts';
export { fetchPrometheus, type PrometheusFetched, type PrometheusQuery } from './observe/prometheus-fetch.ts';
