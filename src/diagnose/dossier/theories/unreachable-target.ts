// Nobody answers the first packet.

import { claim, type DossierTheory, type Examination } from '../theory.ts';
import { medianOf, rowsWhere, type View } from '../view.ts';
import { bindersOf, cutsOf } from '../view-cuts.ts';
import { sayDurationSetting, sayPart, sayTime } from '../view-words.ts';

export const unreachableTarget: DossierTheory = {
  slug: 'unreachable-target',
  title: 'A target that cannot be reached',
  mechanism:
    'A connection is asked for and nothing comes back: a rule that drops packets, a port where nobody listens behind a filter, a host ' +
    'that is gone. The balancer waits for its connect timeout and answers 504, so it looks like slow work, but no work was begun.',
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
    if (cut === undefined) return bySayings(view);
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
  const targets = [...new Set(told.map(({ text }) => /upstream: "\w+:\/\/([^/"]+)/.exec(text)?.[1] ?? 'a target'))];
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
