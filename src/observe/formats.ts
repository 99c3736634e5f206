// Every format that is read, in one table. Where two are equally sure of a file, the one that stands first reads it.

import { accessLines } from './parse/access-line.ts';
import { albAccess } from './parse/alb-access.ts';
import { applicationLog } from './parse/application-log.ts';
import { goroutineProfile } from './parse/application/goroutine-profile.ts';
import { drawnTable } from './parse/application/drawn-table.ts';
import { garbageLog } from './parse/application/garbage-log.ts';
import { mysqlSlowLog } from './parse/application/mysql-slow-log.ts';
import { programSource } from './parse/application/program-source.ts';
import { threadDump } from './parse/application/thread-dump.ts';
import { workerStatistics } from './parse/application/worker-statistics.ts';
import { awsObjects } from './parse/aws-objects.ts';
import { envoyAccess } from './parse/envoy-access.ts';
import { envoyClusters } from './parse/envoy-clusters.ts';
import { envoyConfiguration } from './parse/envoy-conf.ts';
import { envoyStats } from './parse/envoy-stats.ts';
import type { Format } from './parse/format.ts';
import { haproxyActivity } from './parse/haproxy-activity.ts';
import { haproxyConfiguration } from './parse/haproxy-conf.ts';
import { haproxyLog } from './parse/haproxy-dossier.ts';
import { haproxyInfo } from './parse/haproxy-info.ts';
import { haproxyStats } from './parse/haproxy-stats-dossier.ts';
import { jsonAccess } from './parse/json-access.ts';
import { jsonLines } from './parse/json-lines.ts';
import { cgroup } from './parse/kernel/cgroup.ts';
import { conntrack } from './parse/kernel/conntrack.ts';
import { curlTimes } from './parse/kernel/curl-times.ts';
import { deviceTables } from './parse/kernel/device-tables.ts';
import { vmstat } from './parse/kernel/vmstat.ts';
import { kernelLog } from './parse/kernel/kernel-log.ts';
import { nameLookup } from './parse/kernel/name-lookup.ts';
import { procNet } from './parse/kernel/proc-net.ts';
import { procStat } from './parse/kernel/proc-stat.ts';
import { processTables } from './parse/kernel/process-tables.ts';
import { resolvConf } from './parse/kernel/resolv-conf.ts';
import { socketCounts } from './parse/kernel/socket-counts.ts';
import { sockets } from './parse/kernel/sockets.ts';
import { processLimits } from './parse/kernel/process-limits.ts';
import { sysctl } from './parse/kernel/sysctl.ts';
import { kubectlTables } from './parse/kubectl-tables.ts';
import { kubectlEvents } from './parse/kubernetes-events.ts';
import { kubernetes } from './parse/kubernetes.ts';
import { har } from './parse/har.ts';
import { kubectlDescribe } from './parse/kubectl-describe.ts';
import { ab } from './parse/load/ab.ts';
import { artillery } from './parse/load/artillery.ts';
import { gatling } from './parse/load/gatling.ts';
import { jmeterXml } from './parse/load/jmeter-xml.ts';
import { h2load } from './parse/load/h2load.ts';
import { hgrm, hlog } from './parse/load/hdr-files.ts';
import { heyCsv } from './parse/load/hey-csv.ts';
import { hey } from './parse/load/hey.ts';
import { jmeter } from './parse/load/jmeter.ts';
import { jsonResults } from './parse/load/json-results.ts';
import { k6Options } from './parse/load/k6-options.ts';
import { k6Csv, k6Json } from './parse/load/k6-points.ts';
import { k6Summary } from './parse/load/k6-summary.ts';
import { k6Text } from './parse/load/k6-text.ts';
import { loadCommand } from './parse/load/load-command.ts';
import { locust } from './parse/load/locust.ts';
import { vegetaJson, vegetaReport, vegetaResults } from './parse/load/vegeta.ts';
import { wrk } from './parse/load/wrk.ts';
import { prometheusApi } from './parse/prometheus-api.ts';
import { nginxAccess } from './parse/nginx-dossier.ts';
import { nginxError } from './parse/nginx-error.ts';
import { nginxConfiguration } from './parse/nginx-settings.ts';
import { nginxStatus } from './parse/nginx-status.ts';
import { notes } from './parse/notes/notes.ts';
import { pairSettings } from './parse/pair-settings.ts';
import { plainNumbers } from './parse/plain-numbers.ts';
import { plainSettings } from './parse/plain-settings.ts';
import { plainTable } from './parse/plain-table.ts';
import { prometheusText } from './parse/prometheus-text.ts';
import { apacheStatus } from './parse/servers/apache-status.ts';
import { apache } from './parse/servers/apache.ts';
import { gunicorn } from './parse/servers/gunicorn.ts';
import { phpFpm } from './parse/servers/php-fpm.ts';
import { puma } from './parse/servers/puma.ts';
import { serverCommand } from './parse/servers/server-command.ts';
import { tomcat } from './parse/servers/tomcat.ts';
import { uwsgi } from './parse/servers/uwsgi.ts';
import { slowStatements } from './parse/slow-statements.ts';
import { jaegerTraces } from './parse/traces/jaeger.ts';
import { otlpTraces } from './parse/traces/otlp.ts';
import { zipkinTraces } from './parse/traces/zipkin.ts';

export const formats: readonly Format[] = [
  notes,
  prometheusText,
  prometheusApi,
  // HAProxy
  haproxyConfiguration,
  haproxyLog,
  haproxyInfo,
  haproxyActivity,
  haproxyStats,
  // nginx
  nginxConfiguration,
  nginxAccess,
  nginxError,
  nginxStatus,
  // Envoy
  envoyConfiguration,
  envoyAccess,
  envoyStats,
  envoyClusters,
  // AWS
  albAccess,
  awsObjects,
  // Kubernetes
  kubernetes,
  kubectlEvents,
  kubectlTables,
  kubectlDescribe,
  // Load generators
  k6Options,
  loadCommand,
  k6Summary,
  k6Text,
  k6Json,
  k6Csv,
  wrk,
  hey,
  heyCsv,
  vegetaReport,
  vegetaJson,
  vegetaResults,
  ab,
  h2load,
  hgrm,
  hlog,
  jsonResults,
  jmeter,
  jmeterXml,
  gatling,
  artillery,
  locust,
  // Kernel and machine
  socketCounts,
  sockets,
  procNet,
  sysctl,
  processLimits,
  kernelLog,
  conntrack,
  cgroup,
  procStat,
  resolvConf,
  nameLookup,
  processTables,
  vmstat,
  deviceTables,
  curlTimes,
  // Application servers
  gunicorn,
  puma,
  phpFpm,
  tomcat,
  uwsgi,
  apache,
  apacheStatus,
  serverCommand,
  // Applications
  workerStatistics,
  drawnTable,
  threadDump,
  goroutineProfile,
  garbageLog,
  mysqlSlowLog,
  programSource,
  // Traces
  otlpTraces,
  jaegerTraces,
  zipkinTraces,
  har,
  // What has no format of its own
  accessLines,
  jsonAccess,
  slowStatements,
  applicationLog,
  jsonLines,
  plainTable,
  pairSettings,
  plainSettings,
  plainNumbers,
];
