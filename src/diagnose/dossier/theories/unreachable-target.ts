// Nobody answers the first packet, or nobody listens.

import type { RequestTable } from '../../../record.ts';
import { claim, type DossierTheory, type Examination } from '../theory.ts';
import { medianOf, rowsWhere, type View } from '../view.ts';
import { bindersOf, cutsOf } from '../view-cuts.ts';
import { runsOf } from '../view-load.ts';
import { sayDurationSetting, sayPart, sayTime } from '../view-words.ts';

export const unreachableTarget: DossierTheory = {
  slug: 'unreachable-target',
  title: 'A target that cannot be reached',
  mechanism:
    'A connection is asked for and nothing comes back: a rule that drops packets, a port where nobody listens behind a filter, a host ' +
    'that is gone. The balancer waits for its connect timeout and answers 504, so it looks like slow work, but no work was begun. Where ' +
    'the host stands and the program is gone, the kernel refuses at once, and a balancer that checks nobody goes on asking.',
  refutedBy: 'Failures that were connected, or that take differently long.',
  provedBy: 'Failures that never were connected and all took the time that connecting may take.',
  lookAlikes: [
    'timeout-inversion',
    'default-route-timeout',
    'accept-queue-overflow',
    'conntrack-full',
    'a slow backend',
  ],
  fix: 'Look at what lies between: security groups, network policies, the port of the target, the host itself. No timeout mends it.',
  decidedBy: 'a connection to the target by hand from where the balancer stands',
  // Who was never reached was not slow.
  explains: ['slow-replica'],

  examine(view) {
    const cut = cutsOf(view).find(({ stage }) => stage === 'connect');
    if (cut === undefined) return bySayings(view) ?? byRefusals(view) ?? byGenerator(view);
    const [setting] = bindersOf(view, cut);
    const { table, rows } = cut;
    const targets = [...new Set(rows.map((row) => table.replicas[table.replica[row] ?? -1]))].filter(
      (one) => one !== undefined,
    );
    const quick = medianOf(
      rowsWhere(table, (row) => !Number.isNaN(table.connectSeconds[row] ?? Number.NaN)).map(
        (row) => table.connectSeconds[row] ?? 0,
      ),
    );
    const where = targets.length === 0 || targets.length > 3 ? 'the targets' : targets.join(', ');
    return {
      claims: [
        claim('They end where the time for connecting ends.', {
          bearing: 'sufficient',
          predicted:
            setting === undefined
              ? 'one time in common, never connected'
              : `${sayTime(Number(setting.value))}, within 2 %`,
          refutes: 'times that spread',
          seen: {
            text: `${sayPart(rows.length, cut.failures)} within ${sayTime(cut.spread)} of ${sayTime(cut.at)}${setting === undefined ? '' : ` (${sayDurationSetting(setting)})`}`,
            holds: rows.length >= 3,
            origins: [table.origin],
          },
        }),
        claim('Whoever can be reached is connected in no time.', {
          bearing: 'supporting',
          predicted: `far below ${sayTime(cut.at)}`,
          refutes: 'slow connections everywhere',
          seen: quick === undefined ? undefined : { text: `usually ${sayTime(quick)}`, holds: quick < cut.at / 20 },
          missing: 'the time of connecting in the log',
        }),
      ],
      culprit: `${where}: no answer to connections from ${table.program}`,
      sentence: `Nothing answers when ${table.program} connects to ${where}: it gives up after ${sayTime(cut.at)}. No request reached a server there, so none of them was slow.`,
      arithmetic: [`${rows.length} ended at ${sayTime(cut.at)}, none was connected`],
    };
  },
};

/** Without a log of requests: the proxy says in its error log that nobody answers when it connects, always at the same place. A
 * full backlog answers some. */
function bySayings(view: View): Examination | undefined {
  const told = view.messages('upstream-connect-timeout');
  if (told.length === 0) return undefined;
  const targets = [...new Set(told.map(({ text }) => targetOf(text)))];
  const others = view.messages('upstream-timeout', 'upstream-reset').length;
  return {
    claims: [
      claim('The proxy says that nobody answers when it connects, at one place.', {
        bearing: 'sufficient',
        predicted: 'ten times or more, one target, no other complaint about it',
        refutes: 'several targets, or answers in between',
        seen: {
          text: `${told.length} times, ${targets.slice(0, 3).join(', ')}`,
          holds: told.length >= 10 && targets.length === 1 && others === 0,
          origins: told.slice(0, 2).map(({ origin }) => origin),
        },
      }),
    ],
    culprit: `${targets.slice(0, 3).join(', ')}: no answer to connections from ${told[0]?.program ?? 'the proxy'}`,
    sentence: `Nothing answers when ${told[0]?.program ?? 'the proxy'} connects to ${targets.slice(0, 3).join(', ')}: ${told.length} times it gave up connecting.`,
    arithmetic: [`${told.length} timeouts while connecting`],
  };
}

const refusalsMin = 10;
/** A restart refuses for a moment; who has refused for as long as this is gone. */
const goneSeconds = 3;

/** The proxy says that one target refuses its connections, and that target answers no more. */
function byRefusals(view: View): Examination | undefined {
  const told = view.messages('upstream-refused').map((message) => ({ ...message, target: targetOf(message.text) }));
  const byTarget = Map.groupBy(told, ({ target }) => target);
  const [most] = [...byTarget].toSorted(([, one], [, other]) => other.length - one.length);
  const [target, refusals = []] = most ?? [];
  const [first, last] = [refusals[0]?.atMs, refusals.at(-1)?.atMs];
  if (target === undefined || first === undefined || last === undefined) return undefined;
  const later = answersAfter(view, target, first);
  const seconds = (last - first) / 1000;
  const [{ program } = { program: 'the proxy' }] = refusals;
  return {
    claims: [
      claim('It is one target that refuses connections.', {
        bearing: 'necessary',
        predicted: 'nine of ten refusals or more',
        refutes: 'refusals everywhere',
        seen: {
          text: `${refusals.length} of ${told.length} by ${target}`,
          holds: refusals.length >= 0.9 * told.length,
          origins: refusals.slice(0, 2).map(({ origin }) => origin),
        },
      }),
      claim('It answers nobody any more.', {
        bearing: 'necessary',
        predicted: 'no answer after the first refusal, but for the second in which it came',
        refutes: 'answers in between: a program that is started again, or a full backlog',
        seen: later === undefined ? undefined : { text: `${later} answers`, holds: later === 0 },
        missing: 'a log of requests by target',
      }),
      claim('It has refused for so long that it is gone.', {
        bearing: 'sufficient',
        predicted: `${refusalsMin} refusals or more, over ${goneSeconds} s or more`,
        refutes: 'a moment, as a restart makes',
        seen: {
          text: `${refusals.length} over ${sayTime(seconds)}`,
          holds: refusals.length >= refusalsMin && seconds >= goneSeconds && later !== undefined,
        },
      }),
    ],
    culprit: `${target}: nobody listens there (connections from ${program} are refused)`,
    sentence: `Nobody listens at ${target} any more: ${program} was refused ${refusals.length} times in ${sayTime(seconds)} and goes on asking.`,
    arithmetic: [`${refusals.length} connections refused by ${target}, ${told.length - refusals.length} by others`],
    fix: 'Start it again, or take it out of the list; and let the balancer check its targets, or try the next when one refuses.',
    decidedBy: 'whether the program runs on that host',
  };
}

const askedMin = 100;

/** A load generator reached nobody: every request failed, and refused connections are all it speaks of. */
function byGenerator(view: View): Examination | undefined {
  const told = view.messages('refused');
  const run = runsOf(view).find(
    ({ tool, result }) => (result.errorsByKind?.['refused'] ?? 0) > 0 || told.some(({ program }) => program === tool),
  );
  if (run === undefined || run.requests === undefined) return undefined;
  const own = told.filter(({ program }) => program === run.tool);
  const targets = [...new Set(own.flatMap(({ subject }) => subject ?? []))];
  const kinds = Object.entries(run.result.errorsByKind ?? {}).filter(([, count]) => count > 0);
  const others = [
    ...view.dossier.messages.filter(({ program, code }) => program === run.tool && code !== 'refused'),
    ...kinds.filter(([kind]) => kind !== 'refused'),
  ].length;
  const target = targets[0] ?? 'the target';
  const listeners = listenersFor(view, target);
  return {
    claims: [
      claim('Nothing that the generator asked was answered.', {
        bearing: 'necessary',
        predicted: 'every request failed',
        refutes: 'answers: a full backlog or a restart refuses some',
        seen: {
          text: `${run.failed ?? 0} of ${run.requests} failed`,
          holds: run.failed !== undefined && run.failed >= run.requests,
          origins: [run.origin],
        },
      }),
      claim('Refused connections to one target are all that it complains of.', {
        bearing: 'sufficient',
        predicted: `one target, no other complaint, of ${askedMin} requests or more`,
        refutes: 'several targets, or other failures',
        seen: {
          text: `${targets.length === 0 ? 'the target' : targets.slice(0, 3).join(', ')}; ${others} other complaints`,
          holds: targets.length <= 1 && others === 0 && run.requests >= askedMin,
          origins: own.slice(0, 2).map(({ origin }) => origin),
        },
      }),
      claim('The program listens where only its own host can reach it.', {
        bearing: 'supporting',
        predicted: 'a listening socket on a loopback address with this port',
        refutes: 'one that all may reach',
        seen:
          listeners.length === 0
            ? undefined
            : { text: listeners.join(', '), holds: listeners.every((address) => loopback.test(address)) },
        missing: 'the listening sockets of that host',
      }),
    ],
    culprit: `${target}: nobody listens there (connections from ${run.tool} are refused)`,
    sentence: `Nobody listens at ${target}: all ${run.requests} requests of ${run.tool} were refused, so what it measured is no service.`,
    arithmetic: [`${run.failed ?? 0} of ${run.requests} failed, none was connected`],
    fix: 'Start the program, or let it listen on an address that others reach; check the port that the generator was given.',
    decidedBy: 'a connection to the target by hand from where the generator stands',
  };
}

const loopback = /^(?:127\.|localhost|\[?::1\]?:)/;

/** Addresses on which somebody listens at the port of this target. */
function listenersFor(view: View, target: string): string[] {
  const port = /:\d+$/.exec(target)?.[0];
  const listening = view.settings('listen.backlog').flatMap(({ scope }) => /^listener (\S+)$/.exec(scope)?.[1] ?? []);
  return port === undefined ? [] : [...new Set(listening)].filter((address) => address.endsWith(port));
}

const targetOf = (text: string): string => /upstream: "\w+:\/\/([^/"]+)/.exec(text)?.[1] ?? 'a target';

/** Good answers of this target later than the second of `atMs`; messages tell whole seconds. Undefined: no log knows the target. */
function answersAfter(view: View, target: string, atMs: number): number | undefined {
  for (const table of view.tables) {
    const isLater = (row: number): boolean => (table.startMs[row] ?? Number.NaN) >= atMs + 1000;
    const failed = (row: number): boolean => (table.status[row] ?? 0) >= 500;
    const byAddress = table.replicas.indexOf(target);
    const place =
      byAddress >= 0
        ? byAddress
        : ownerOf(
            table,
            rowsWhere(table, (row) => isLater(row) && failed(row)),
          );
    if (place === undefined) continue;
    return rowsWhere(table, (row) => table.replica[row] === place && isLater(row) && !failed(row)).length;
  }
  return undefined;
}

/** The log may have another name for it than the messages: then it is whoever has nine of ten failures. */
function ownerOf(table: RequestTable, failures: readonly number[]): number | undefined {
  const counts = Map.groupBy(failures, (row) => table.replica[row] ?? -1);
  const [most] = [...counts].toSorted(([, one], [, other]) => other.length - one.length);
  return most !== undefined && most[0] >= 0 && most[1].length >= 0.9 * failures.length ? most[0] : undefined;
}
