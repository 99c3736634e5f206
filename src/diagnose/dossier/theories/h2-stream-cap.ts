// One connection carries so many streams and no more; what is beyond waits in the client.

import { digits, percent } from '../../wording.ts';
import { claim, type DossierTheory } from '../theory.ts';
import type { Reading, View } from '../view.ts';
import { serverCpu } from '../view-load.ts';

export const h2StreamCap: DossierTheory = {
  slug: 'h2-stream-cap',
  title: 'Stream cap: requests wait in the client for a stream on one HTTP/2 connection',
  mechanism:
    'A server allows a number of streams on each connection. A client with one connection can have no more requests in flight ' +
    'than that; the rest waits on the client’s side, where no server sees it. Throughput is capped at streams × connections ÷ ' +
    'time, whatever the server could do.',
  refutedBy: 'In flight below the limit, or a server that is as slow as the client says.',
  provedBy:
    'In flight on a connection exactly at the limit while requests wait, and a server that answers much faster.',
  lookAlikes: ['a slow server', 'cpu-throttling', 'the network', 'circuit-breaker-overflow'],
  fix: 'More connections (channels) to the server, or a higher limit of concurrent streams.',
  decidedBy: 'streams in flight by connection, the server’s limit, and latency as client and as server see it',
  explains: ['overload-open-loop', 'circuit-breaker-overflow', 'slow-replica', 'closed-loop-artifact'],

  examine(view) {
    const limit = view.setting('h2.max-concurrent-streams');
    const cap = typeof limit?.value === 'number' ? limit.value : undefined;
    const connections = view.number('h2.connections') ?? connectionsIn(view)?.value ?? listedConnections(view);
    const flight = inFlightIn(view);
    const waiting = waitingIn(view);
    const few = view.number('h2.connections') !== undefined && cap !== undefined;
    if (flight === undefined && waiting === undefined && !few) return undefined;
    if (cap === undefined && waiting === undefined) return undefined;
    const perConnection =
      flight === undefined
        ? undefined
        : flight.single
          ? flight.reading.value
          : flight.reading.value / Math.max(1, connections ?? 1);
    const client = latencyIn(view, /client|caller|outbound|downstream/);
    const server = latencyIn(view, /server|handler|handled|inbound|upstream/);
    const rate = rateIn(view);
    const cpu = serverCpu(view);
    const busy = cpu?.value;
    const known =
      cap ??
      (perConnection !== undefined && usualCaps.includes(Math.round(perConnection))
        ? Math.round(perConnection)
        : undefined);
    const predictedRate =
      known === undefined || server === undefined ? undefined : (known * (connections ?? 1)) / server;
    return {
      claims: [
        claim('In flight on a connection stands at the limit.', {
          bearing: 'necessary',
          predicted: cap === undefined ? 'a usual limit (100, 128, 250, 256)' : `${digits(cap)}, within 2 %`,
          refutes: 'fewer in flight than allowed',
          seen:
            perConnection === undefined
              ? undefined
              : {
                  text: digits(perConnection),
                  holds: known !== undefined && Math.abs(perConnection / known - 1) <= 0.02,
                  origins: flight?.reading.origins ?? [],
                },
          missing: 'streams in flight by connection',
        }),
        claim('There are few connections.', {
          bearing: 'supporting',
          predicted: 'one, or a handful',
          refutes: 'many connections',
          seen: connections === undefined ? undefined : { text: digits(connections), holds: connections <= 8 },
          missing: 'connections of the client',
        }),
        claim('Requests wait for a stream.', {
          bearing: 'sufficient',
          predicted: 'more than 0 waiting, with as many in flight as allowed',
          refutes: 'nobody waiting',
          seen:
            waiting === undefined
              ? undefined
              : {
                  text: digits(waiting.value),
                  holds: waiting.value > 0 && known !== undefined,
                  origins: waiting.origins,
                },
          missing: 'requests that wait in the client',
        }),
        claim('The client waits much longer than the server works.', {
          bearing: 'sufficient',
          predicted: 'at least 3 times',
          refutes: 'a server that is as slow as the client says',
          seen:
            client === undefined || server === undefined
              ? undefined
              : {
                  text: `client ${digits(client)} s, server ${digits(server)} s`,
                  holds: client >= 3 * server && known !== undefined && perConnection !== undefined,
                },
          missing: 'latency as the client and as the server see it',
        }),
        claim('Throughput is streams × connections ÷ the server’s time.', {
          bearing: 'supporting',
          predicted:
            predictedRate === undefined ? 'streams × connections ÷ time' : `${digits(predictedRate)}/s, within 10 %`,
          refutes: 'another rate',
          seen:
            rate === undefined || predictedRate === undefined
              ? undefined
              : {
                  text: `${digits(rate.value)}/s`,
                  holds: Math.abs(rate.value / predictedRate - 1) <= 0.1,
                  origins: rate.origins,
                },
          missing: 'requests a second at the server',
        }),
        claim('The server’s processor is not the limit.', {
          bearing: 'necessary',
          predicted: 'below 90 %',
          refutes: 'a full processor',
          seen:
            busy === undefined ? undefined : { text: percent(busy), holds: busy < 0.9, origins: cpu?.origins ?? [] },
          missing: 'processor time of the server',
        }),
      ],
      culprit: `server MaxConcurrentStreams ${known === undefined ? '' : digits(known)} on ${connections === undefined || connections === 1 ? 'a single connection' : `${digits(connections)} connections`}`,
      sentence: `The client has ${connections === undefined || connections === 1 ? 'one connection' : `${digits(connections)} connections`}, which may carry ${known === undefined ? 'so many' : digits(known)} streams${connections === undefined || connections === 1 ? '' : ' each'}; everything beyond waits in the client while the server has room.`,
      arithmetic: [
        ...(predictedRate === undefined || server === undefined || known === undefined
          ? []
          : [
              `${digits(known)} streams × ${digits(connections ?? 1)} ÷ ${digits(server)} s = ${digits(predictedRate)}/s at most${rate === undefined ? '' : `; seen ${digits(rate.value)}/s`}`,
            ]),
        ...(waiting === undefined ? [] : [`${digits(waiting.value)} requests wait for a stream`]),
      ],
    };
  },
};

/** Defaults of common servers. */
const usualCaps: readonly number[] = [100, 128, 250, 256, 1000];

function inFlightIn(view: View): { reading: Reading; single: boolean } | undefined {
  const streams = view.greatest(
    (name) =>
      /streams?_(?:in_flight|active|open)|active_streams|concurrent_streams$|open_streams/.test(name) &&
      !/max/.test(name),
  );
  if (streams !== undefined) return { reading: streams, single: true };
  const requests = view.greatest((name) =>
    /upstream_rq_active$|client_(?:requests_)?in_flight|rpcs_in_flight/.test(name),
  );
  return requests === undefined ? undefined : { reading: requests, single: false };
}

function waitingIn(view: View): Reading | undefined {
  return view.greatest((name) =>
    /streams?_(?:waiting|pending|queued)|(?:waiting|pending|queued)_(?:streams|rpcs)|rq_pending_active$|client_(?:requests_)?(?:queued|waiting|pending)/.test(
      name,
    ),
  );
}

function connectionsIn(view: View): Reading | undefined {
  return view.greatest((name) =>
    /client_(?:connections|channels|conns)|upstream_cx_active$|h2_connections|subchannels/.test(name),
  );
}

/** Where each connection has numbers of its own they can be counted. */
function listedConnections(view: View): number | undefined {
  const ids = new Set(
    view.dossier.samples.flatMap(({ name, labels }) =>
      /stream/.test(name) ? (labels['connection'] ?? labels['conn'] ?? labels['channel'] ?? []) : [],
    ),
  );
  return ids.size === 0 ? undefined : ids.size;
}

/** The middle latency of one side; its 99th percentile where that is all there is. */
function latencyIn(view: View, side: RegExp): number | undefined {
  const own = view.dossier.samples.filter(
    ({ name, labels }) =>
      side.test(name.toLowerCase()) &&
      /seconds|latency|duration|handling|rq_time/.test(name.toLowerCase()) &&
      'quantile' in labels,
  );
  const middle =
    own.find(({ labels }) => labels['quantile'] === '0.5') ?? own.find(({ labels }) => labels['quantile'] === '0.99');
  const scale = middle !== undefined && /_ms$|rq_time$/.test(middle.name) ? 1e-3 : 1;
  return middle === undefined ? undefined : middle.value * scale;
}

function rateIn(view: View): Reading | undefined {
  return view.greatest((name) =>
    /(?:handled|requests?|rpcs?|completed|throughput)_(?:per_s|per_second|rate)$|rps$/.test(name),
  );
}
