// What the keys of access logs mean. Everybody spells them differently: `rt`, `request_time`, `duration`, `latency_ms`,
// `DURATION`, `http.server.duration` are one thing. Here a spelling becomes one of the columns of a request table, with the
// unit that the spelling promises.
//
// Keys are compared without case and punctuation (`x-envoy-upstream-service-time`, `OriginDuration`). A unit may be a suffix
// (`_ms`, `Seconds`); without one it is found from the values of the file: see `unitOf`.

export type AccessField =
  | 'time'
  | 'start'
  | 'seconds'
  | 'upstreamSeconds'
  | 'headerSeconds'
  | 'connectSeconds'
  | 'queueSeconds'
  | 'status'
  | 'upstreamStatus'
  | 'attempts'
  | 'retries'
  | 'replica'
  | 'client'
  | 'method'
  | 'path'
  | 'request'
  | 'route'
  | 'flag'
  | 'details'
  | 'service'
  | 'worker';

export interface FieldMeaning {
  readonly field: AccessField;
  /** Seconds in one of its units; undefined when the spelling does not say. */
  readonly unit: number | undefined;
  /** Of two keys for one field the smaller counts: `upstream_host` says more than `host`. */
  readonly rank: number;
}

/** Spellings by field, the surest first. Without punctuation, in lower case, without a unit. */
const spellings: Readonly<Record<AccessField, string>> = {
  time: 'ts time timestamp attimestamp datetime date timelocal timeiso8601 msec eventtime logtime t at when',
  start: 'starttime startedat startutc startlocal start begin requeststarttime requestcreationtime',
  seconds:
    'requesttime rt duration latency elapsed took totaltime timetotal responsetime elapsedtime requestduration ' +
    'totalduration timetaken processtime servetime handletime handlingtime cost resptime total seconds httpserverduration ' +
    'requestprocessingtime eventduration',
  upstreamSeconds:
    'upstreamresponsetime ut urt upstreamtime upstreamduration upstreamservicetime xenvoyupstreamservicetime ' +
    'originduration backendtime targetprocessingtime upstreamlatency servicetime upstreamresptime',
  headerSeconds: 'upstreamheadertime uht uh',
  connectSeconds: 'upstreamconnecttime uct uc connecttime timeconnect connectduration',
  queueSeconds: 'queuetime waittime queued upstreamqueuetime queueduration timeinqueue',
  status:
    'status code statuscode responsecode httpstatus scstatus downstreamstatus respstatus responsestatus responsestatuscode ' +
    'httpresponsestatuscode httpstatuscode rescode resstatuscode elbstatuscode',
  upstreamStatus:
    'upstreamstatus us ust ustatus originstatus backendstatus targetstatus targetstatuscode upstreamstatuscode',
  attempts: 'attempt attempts tries attemptcount upstreamrequestattemptcount xenvoyattemptcount trycount',
  retries: 'retries retryattempts retrycount retry',
  replica:
    'upstreamhost upstreamaddr upstreamaddress upstream up ua uaddr upaddr backendaddr backendhost backendip target targetip targethost targetaddr backend replica endpoint ' +
    'serviceaddr serviceurl upstreamurl backendurl instance pod podname podip server serveraddr serverip peer node upstreampeer chosen dest destination',
  client:
    'client clientip remoteaddr remoteip downstreamremoteaddress xforwardedfor xff clienthost clientaddr sourceip src ' +
    'source remote ip userip caller from remotehost peerip clientaddress requestremoteip requestclientip',
  method: 'method verb requestmethod httpmethod httprequestmethod reqmethod',
  path: 'path uri url requesturi requestpath uripath httptarget urlpath requrl requrl originalpath httpurl requesturl resource',
  request: 'request req requestline httprequest message msg',
  route: 'route routename routerule endpointname handler operation rpc grpcmethod',
  details: 'responsecodedetails statusdetails codedetails',
  flag: 'responseflags responseflag flags terminationstate termination errorreason endreason',
  service:
    'service upstreamcluster cluster servicename backendname proxyupstreamname authority vhost servername requestauthority ' +
    'requesthost virtualhost app host',
  worker: 'worker workerid workerpid pid thread process processid',
};

const meanings: ReadonlyMap<string, { field: AccessField; rank: number }> = new Map(
  Object.entries(spellings).flatMap(([field, words]) =>
    words.split(' ').map((word, rank) => [word, { field: fieldNamed(field), rank }] as const),
  ),
);

/** Keys that nginx always writes in seconds. */
const inSeconds = new Set(
  'requesttime rt upstreamresponsetime ut urt upstreamheadertime uht uh upstreamconnecttime uct uc seconds timetotal timeconnect'.split(
    ' ',
  ),
);
/** Keys that are always milliseconds, and Traefik's, which are nanoseconds. */
const inMilliseconds = new Set('xenvoyupstreamservicetime upstreamservicetime'.split(' '));
const inNanoseconds = new Set('originduration eventduration'.split(' '));

const suffixes: readonly (readonly [RegExp, number])[] = [
  [/[_\-.](?:ms|msec|millis|milliseconds)$|(?:Millis|Ms|Milliseconds)$/, 1e-3],
  [/[_\-.](?:us|usec|micros|microseconds)$|(?:Micros|Microseconds)$/, 1e-6],
  [/[_\-.](?:ns|nanos|nanoseconds)$|(?:Nanos|Nanoseconds)$/, 1e-9],
  [/[_\-.](?:s|sec|secs|seconds)$|(?:Seconds|Secs)$/, 1],
];
const durations = new Set<AccessField>([
  'seconds',
  'upstreamSeconds',
  'headerSeconds',
  'connectSeconds',
  'queueSeconds',
]);

/** What a key means; undefined when it is none of ours. */
export function fieldOf(key: string): FieldMeaning | undefined {
  const whole = plain(key);
  const known = meanings.get(whole);
  if (known !== undefined) return { ...known, unit: unitOfKey(whole) };
  for (const [suffix, unit] of suffixes) {
    const bare = key.replace(suffix, '');
    if (bare === key) continue;
    const stem = meanings.get(plain(bare));
    // `time_ms` is no point in time: with a unit, a time is a length.
    if (stem?.field === 'time' && plain(bare) === 'time') return { field: 'seconds', rank: 5, unit };
    if (stem !== undefined && durations.has(stem.field)) return { ...stem, unit };
  }
  return undefined;
}

function fieldNamed(name: string): AccessField {
  return name as AccessField;
}

function plain(key: string): string {
  return key
    .replace(/^@/, 'at')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '');
}

function unitOfKey(word: string): number | undefined {
  if (inSeconds.has(word)) return 1;
  if (inMilliseconds.has(word)) return 1e-3;
  return inNanoseconds.has(word) ? 1e-9 : undefined;
}

/**
 * The unit of durations that nobody named, from some of them. Programs that count whole units count milliseconds, or finer
 * ones when the numbers are huge. With fractions it is seconds when a quarter of them is below one, else milliseconds: few
 * services answer within a millisecond, and few take longer than a second all the time.
 */
export function unitOf(values: readonly number[]): number {
  const ordered = values.filter((value) => value > 0).toSorted((one, other) => one - other);
  const quartile = ordered[Math.floor((ordered.length - 1) / 4)] ?? 0;
  const median = ordered[Math.floor((ordered.length - 1) / 2)] ?? 0;
  if (ordered.some((value) => !Number.isInteger(value))) return quartile < 1 ? 1 : 1e-3;
  if (median >= 1e7) return 1e-9;
  return median >= 3e5 ? 1e-6 : 1e-3;
}
