// Whether anything was seen at all, or only configured. What settings alone could do one day is a finding where nothing else is
// there to judge; where there is traffic, the traffic decides.

import type { View } from './view.ts';
import { wordsOfName } from './view-words.ts';

/** Requests, results of a generator, messages or numbers over time. Single readings show a state, not an incident. */
export function hasSymptoms(view: View): boolean {
  const { requests, results, messages, series } = view.dossier;
  return requests.length + results.length + messages.length + series.length > 0;
}

/** Work that nobody waits for: its own troubles are not the incident. */
const background = /batch|cron|nightly|backup|etl|(?:^|[-_])jobs?(?:$|[-_\d])|report/i;

/**
 * Whether a container, a pod or a pool is one of those that the rest is about: its name shares a word with a service, a replica or
 * the scope of a setting. Undefined when nothing has a name to compare with.
 */
export function isConcerned(view: View, name: string): boolean | undefined {
  const said = [
    ...view.tables.flatMap((table) => [...table.services.slice(0, 50), ...table.replicas.slice(0, 200)]),
    ...view.dossier.settings.filter(({ program }) => program !== 'kernel').map(({ scope }) => scope),
  ].flatMap(wordsOfName);
  const own = wordsOfName(name);
  // `nightly-catalog` works for the catalog, and answers none of its requests.
  const rest = own.filter((word) => !said.includes(word));
  if (rest.length < own.length) return !rest.some((word) => background.test(word));
  if (background.test(name)) return false;
  return said.length === 0 || own.length === 0 ? undefined : false;
}
