// A worker is bound when a connection is accepted, not when a request arrives on it. Idle connections then use up the workers.

import type { Origin } from '../../../record.ts';
import { digits, percent } from '../../wording.ts';
import { spreadOf } from '../spread.ts';
import { claim, type DossierTheory } from '../theory.ts';
import type { Reading, View } from '../view.ts';
import { poolIn } from '../worker-pool.ts';

export const workerSlotsHeldByIdleConnections: DossierTheory = {
  slug: 'worker-slots-held-by-idle-connections',
  title: 'Worker slots held by idle connections: a slot is taken before any byte of a request',
  mechanism:
    'A server that gives each accepted connection a worker (a process or a thread) cannot tell a connection that asks from one ' +
    'that a balancer or browser opened ahead of need. Connections that say nothing fill the slots; requests wait in the ' +
    'listen queue before idle processors, until a timeout frees a slot.',
  refutedBy: 'As many requests in hand as slots are taken, or a slot that is taken with the first byte.',
  provedBy: 'All slots taken while few or no requests are in hand and the processor idles.',
  lookAlikes: ['dependency-pool-exhaustion', 'overload-open-loop', 'accept-queue-overflow', 'slow handlers'],
  fix:
    'Put a server in front that buffers requests and multiplexes connections (an event-driven proxy), take a slot with the first ' +
    'byte (deferred accept, an async worker), time out silent connections soon, and open none ahead of need.',
  decidedBy: 'slots taken, requests in hand and established connections at the same moment',
  explains: ['accept-queue-overflow', 'slow-replica', 'health-check-on-shared-workers', 'acquire-timeout-too-short'],

  examine(view) {
    const takenAt = view.setting('workers.slot-taken-at');
    const pool = poolIn(view);
    const rows = workersIn(view);
    const waiting = rows ?? silentIn(view);
    const requests = requestsInHand(view);
    const connections = connectionsIn(view);
    const size = pool?.size ?? view.number('workers.count') ?? rows?.size;
    if (takenAt === undefined && waiting === undefined) return undefined;
    const cpu = view.greatest(
      (name) => /cpu/.test(name) && /ratio|percent|usage|utili|busy/.test(name) && !/throttl/.test(name),
    );
    const silent =
      waiting?.value ??
      (connections === undefined || requests === undefined
        ? undefined
        : Math.max(0, connections.value - requests.value));
    return {
      claims: [
        claim('A slot is taken when a connection is accepted.', {
          bearing: 'necessary',
          predicted: 'at accept',
          refutes: 'a slot that is taken with the first byte',
          seen:
            takenAt === undefined
              ? undefined
              : {
                  text: `${takenAt.scope}: ${takenAt.value}`,
                  holds: /accept|connect/i.test(String(takenAt.value)),
                  origins: [takenAt.origin],
                },
          missing: 'when the server binds a connection to a worker',
        }),
        claim('All slots are taken.', {
          bearing: 'necessary',
          predicted: size === undefined ? 'as many as there are' : `${digits(size)} of ${digits(size)}`,
          refutes: 'free slots',
          seen:
            pool !== undefined
              ? { text: pool.text, holds: pool.full, origins: pool.origins }
              : connections !== undefined && size !== undefined
                ? {
                    text: `${digits(connections.value)} connections for ${digits(size)} slots`,
                    holds: connections.value >= size,
                    origins: connections.origins,
                  }
                : undefined,
          missing: 'slots taken and slots there are',
        }),
        claim('Few of them work on a request: the rest holds a connection that says nothing.', {
          bearing: 'sufficient',
          predicted: 'at least half of the slots without a request',
          refutes: 'a request in every slot',
          seen:
            size === undefined || (requests === undefined && silent === undefined)
              ? undefined
              : {
                  text:
                    requests === undefined
                      ? `${digits(silent ?? 0)} silent connections for ${digits(size)} slots`
                      : `${digits(requests.value)} requests in hand, ${digits(size)} slots`,
                  holds: requests === undefined ? (silent ?? 0) >= 0.5 * size : requests.value <= 0.5 * size,
                  origins: (requests ?? waiting)?.origins ?? [],
                },
          missing: 'requests in hand while the slots are taken',
        }),
        claim('The processor idles.', {
          bearing: 'supporting',
          predicted: 'below 50 %',
          refutes: 'a processor that is busy',
          seen:
            cpu === undefined
              ? undefined
              : {
                  text: percent(cpu.value > 1.5 ? cpu.value / 100 : cpu.value),
                  holds: (cpu.value > 1.5 ? cpu.value / 100 : cpu.value) < 0.5,
                  origins: cpu.origins,
                },
          missing: 'processor time of the server',
        }),
        claim('Somebody keeps connections open longer than the server would like.', {
          bearing: 'supporting',
          predicted: 'an idle timeout in front',
          refutes: 'connections that are closed after each request',
          seen: idleSeen(view),
          missing: 'how long the side in front keeps connections',
        }),
      ],
      culprit: `${takenAt?.program === undefined || takenAt.program === 'notes' || takenAt.program === 'file' ? (takenAt?.scope ?? 'the server') : `${takenAt.program} ${takenAt.scope}`}: ${size === undefined ? 'its' : digits(size)} worker slots, taken at accept and held by idle connections`,
      sentence: `All ${size === undefined ? '' : `${digits(size)} `}workers are bound to connections that send nothing, because a slot is taken when a connection is accepted: requests wait while the processor idles.`,
      arithmetic: [
        ...(size === undefined ? [] : [`${digits(size)} slots`]),
        ...(connections === undefined ? [] : [`${digits(connections.value)} established connections`]),
        ...(requests === undefined ? [] : [`${digits(requests.value)} requests in hand`]),
        ...(silent === undefined ? [] : [`${digits(silent)} connections without a request`]),
      ],
    };
  },
};

/** Connections in a state of waiting for a request: a scoreboard's reading and keep-alive, a proxy's idle. */
function silentIn(view: View): Reading | undefined {
  const state = /^(?:reading?|r|keep-?alive|k|idle|waiting|silent|no.?request|accepted|header)$/i;
  return (
    view.total(
      (name, labels) =>
        /scoreboard|connections?|slots?|workers?/.test(name) && state.test(labels['state'] ?? labels['status'] ?? ''),
    ) ??
    view.greatest((name) =>
      /(?:idle|silent|empty|waiting|preopened|pre_?connect\w*)_connections|connections_(?:idle|silent|without_request|waiting|reading)/.test(
        name,
      ),
    )
  );
}

/** A list of workers with what each is doing: how many there are, and how many of them wait for the first byte. */
function workersIn(view: View): (Reading & { readonly size: number }) | undefined {
  const doing = new Map<string, string>();
  let origin: Origin | undefined;
  for (const { labels, origin: own } of view.dossier.samples) {
    const id = ['worker', 'thread', 'slot', 'pid', 'row']
      .map((label) => labels[label])
      .find((one) => one !== undefined);
    const state = labels['state'] ?? labels['status'];
    if (id === undefined || state === undefined) continue;
    doing.set(id, state);
    origin ??= own;
  }
  const silent = [...doing.values()].filter((state) => waitsForBytes.test(state)).length;
  if (doing.size < 2 || silent === 0 || origin === undefined) return undefined;
  return { value: silent, size: doing.size, name: 'workers that wait for a request', origins: [origin] };
}

const waitsForBytes =
  /^(?:(?:blocked (?:in|on) )?(?:recv|read(?:ing)?|wait(?:ing)?)(?:[ _-](?:for|on))?[ _-](?:the )?(?:first[ _-]byte|request(?:[ _-](?:line|head(?:ers?)?))?|headers?|bytes|data|client|socket)|idle[ _-]connection|no[ _-]request)$/i;

function requestsInHand(view: View): Reading | undefined {
  return view.greatest((name) =>
    /requests?_(?:in_flight|active|in_progress|in_hand)|in_?flight|active_requests|rq_active/.test(name),
  );
}

function connectionsIn(view: View): Reading | undefined {
  const [fleet] = view.fleets.flatMap((one) => spreadOf(one, 'connections') ?? []);
  if (fleet !== undefined) return { value: fleet.most, name: 'connections', origins: fleet.fleet.origins };
  return view.greatest((name) =>
    /(?:established|open|current|active)_connections|connections_(?:established|open|current|active)|^established$|curr_?conns?/.test(
      name,
    ),
  );
}

function idleSeen(view: View): { text: string; holds: boolean } | undefined {
  const idle =
    view.setting('upstream.idle-timeout') ??
    view.setting('upstream.keepalive-connections') ??
    view.setting('downstream.idle-timeout');
  return idle === undefined
    ? undefined
    : { text: `${idle.program} ${idle.scope}: ${idle.key} ${idle.value}`, holds: true };
}
