// Nobody answers the first packet.

import { claim, type DossierTheory } from '../theory.ts';
import { medianOf, rowsWhere } from '../view.ts';
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
  explains: [],

  examine(view) {
    const cut = cutsOf(view).find(({ stage }) => stage === 'connect');
    if (cut === undefined) return undefined;
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
