// What happened, from how a person or a program put it: a reason of Kubernetes, a word of one's own, a sentence.

import { eventWord } from './kubernetes-events.ts';

/** Sentences, by what they tell. The first that fits counts; what fits none is a note. */
const sentences: readonly (readonly [RegExp, string])[] = [
  [/\broll(?:out|ing)\b.*\b(?:start|begin|began|started)\b|\bstart\w* (?:of )?(?:the )?rollout/i, 'rollout-start'],
  [/\broll(?:out|ing)\b.*\b(?:end|ended|done|finished|complete\w*)\b/i, 'rollout-end'],
  [/\b(?:deploy(?:ed|ment|s)?|released?|rolled out|new version|upgraded?)\b/i, 'deploy'],
  [/\b(?:back to|recovered|restored|resolved|reverted|cleared|removed the|healed)\b/i, 'trigger-end'],
  [/\bCrashLoopBackOff\b|\brestart(?:s|ed|ing)?\b|\bcrash(?:ed|es)?\b/i, 'restart'],
  [/\bscal(?:ed?|ing)\b|\breplicas?\b.*->/i, 'scaled'],
  [/\bendpoints? (?:are |is )?empty|\bno endpoints\b/i, 'no-server-available'],
  [/\bunhealthy\b|\bprobe failed\b|\bmarked down\b|\bejected\b/i, 'unhealthy'],
  [/\b(?:healthy|marked up|returned to service)\b/i, 'healthy'],
  [/\bdraining\b|\bterminating\b|\bSIGTERM\b/i, 'pod-terminating'],
  [/\bdisk\b.*\bfull\b|\b(?:volume|disk)\b.*\b100 ?%|\bno space left\b/i, 'disk-full'],
  [/\brefuses? connections\b|\bconnection refused\b/i, 'dependency-down'],
  [
    /\S+ ?(?:->|→|=>) ?\S+|\b(?:rises?|rose|raised|increased?|degraded?|slow(?:s|ed)? down|outage|fails? over|failover)\b/i,
    'trigger-start',
  ],
];

/** Our word for an event: a single word is taken as it is, a sentence by what it tells. */
export function eventOf(text: string): string {
  const trimmed = text.trim();
  if (!/\s/.test(trimmed)) return eventWord(trimmed);
  return sentences.find(([pattern]) => pattern.test(trimmed))?.[1] ?? 'note';
}
