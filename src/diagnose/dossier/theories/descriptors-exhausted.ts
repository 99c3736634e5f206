// No descriptor left, so no connection can be opened or taken.

import { claim, type DossierTheory } from '../theory.ts';
import { sayCountSetting } from '../view-words.ts';

export const descriptorsExhausted: DossierTheory = {
  slug: 'descriptors-exhausted',
  title: 'Descriptors or connections of a process used up',
  mechanism:
    'A process may have so many files and sockets open, and a proxy so many connections for each worker; a proxied request needs ' +
    'two. At the bound nothing can be accepted or opened, at any load of the processors.',
  refutedBy: 'A process far below its bound.',
  provedBy: 'The words of the process itself.',
  lookAlikes: ['accept-queue-overflow', 'proxy-port-exhaustion', 'overload-open-loop'],
  fix: 'Raise the bound (LimitNOFILE, worker_connections, maxconn) above twice the connections that are wanted; look for what leaks them.',
  decidedBy: 'the error log of the process, and its open descriptors against the bound',
  explains: ['accept-queue-overflow', 'retry-storm'],

  examine(view) {
    const told = [
      ...view.messages('too-many-open-files', 'worker-connections-full', 'proxy-connections-full'),
      ...view.messagesLike(/too many open files|EMFILE|ENFILE/),
    ].filter((one, index, all) => all.indexOf(one) === index);
    if (told.length === 0) return undefined;
    const [first] = told;
    const bound =
      view.setting('workers.connections', ({ implied }) => !implied) ??
      view.setting('downstream.max-connections') ??
      view.setting('workers.connections');
    return {
      claims: [
        claim('The process said that it has none left.', {
          bearing: 'sufficient',
          predicted: 'at least three times',
          refutes: 'once, at a start',
          seen: {
            text: `${told.length} × ${first?.text.slice(0, 100) ?? ''}`,
            holds: told.length >= 3,
            origins: told.slice(0, 2).map(({ origin }) => origin),
          },
        }),
      ],
      culprit: `${first?.program ?? 'the process'}: ${bound === undefined ? 'open files' : sayCountSetting(bound)}`,
      sentence: `${first?.program ?? 'The process'} has no descriptor or connection left${bound === undefined ? '' : ` (${sayCountSetting(bound)})`}, and can take or open none until one is free.`,
      arithmetic: [`${told.length} refusals for want of one`],
    };
  },
};
