// No descriptor left, so no connection can be opened or taken.

import type { MessageFact, Origin, SettingFact } from '../../../record.ts';
import { claim, type DossierTheory } from '../theory.ts';
import type { View } from '../view.ts';
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
    const dropped = droppedAtTheDoor(view);
    if (told.length === 0 && dropped === undefined) return undefined;
    const [first] = told;
    const bound = boundOf(view, first);
    return {
      claims: [
        claim('The process said that it has none left.', {
          bearing: 'sufficient',
          predicted: 'at least three times',
          refutes: 'once, at a start',
          seen:
            told.length === 0
              ? undefined
              : {
                  text: `${told.length} × ${first?.text.slice(0, 100) ?? ''}`,
                  holds: told.length >= 3,
                  origins: told.slice(0, 2).map(({ origin }) => origin),
                },
          missing: 'the error log of the process',
        }),
        claim('nginx accepted connections that it could not handle.', {
          bearing: 'sufficient',
          predicted: 'fewer handled than accepted: at the bound of its workers the rest is dropped',
          refutes: 'as many handled as accepted',
          seen:
            dropped === undefined
              ? undefined
              : {
                  text: `${dropped.count} of ${dropped.accepted} dropped`,
                  holds: dropped.count >= 3,
                  origins: dropped.origins,
                },
          missing: 'accepted and handled connections of its status page',
        }),
      ],
      culprit: culpritOf(first?.program ?? (dropped === undefined ? 'the process' : 'nginx'), bound),
      sentence: `${first?.program ?? 'The process'} has no descriptor or connection left${bound === undefined ? '' : ` (${sayCountSetting(bound)})`}, and can take or open none until one is free.`,
      arithmetic: [`${Math.max(told.length, dropped?.count ?? 0)} refusals for want of one`],
    };
  },
};

/** Whoever says that files are too many has met the bound on files, whatever its own configuration allows. */
function boundOf(view: View, told: MessageFact | undefined): SettingFact | undefined {
  const files = view.setting('kernel.files-per-process-max');
  if (told !== undefined && /too many open files|EMFILE/i.test(told.text)) return files;
  return (
    view.setting('workers.connections', ({ implied }) => !implied) ??
    view.setting('downstream.max-connections') ??
    view.setting('workers.connections')
  );
}

function culpritOf(program: string, bound: SettingFact | undefined): string {
  if (bound === undefined) return `${program}: open files`;
  const said = sayCountSetting(bound);
  return said.startsWith(program) ? said : `${program}: ${said}`;
}

function droppedAtTheDoor(
  view: View,
): { readonly count: number; readonly accepted: number; readonly origins: readonly Origin[] } | undefined {
  const accepted = view.greatest((name) => name === 'nginx_connections_accepts');
  const handled = view.greatest((name) => name === 'nginx_connections_handled');
  if (accepted === undefined || handled === undefined || accepted.value <= handled.value) return undefined;
  return { count: accepted.value - handled.value, accepted: accepted.value, origins: accepted.origins };
}
