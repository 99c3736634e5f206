// A story in words, for a terminal.
//
//   request 7f3c-1a: GET /orders for shop.example from 10.0.0.7, 2026-11-30T09:41:12.114Z
//   written down because it asked for it; 15,000 ms were given
//
//   pick 1, at 0.1 ms, by least-request: api-2
//     api-2   3 in flight   score 3   chosen
//     api-1   7 in flight   score 7
//     api-3   0 in flight             out: its checks fail
//   …

import type { AttemptStory, Candidate, PickStory, Story } from './story.ts';

export function storyText(story: Story): string {
  const lines = [
    `request ${story.id}: ${story.method} ${story.path}${story.authority === null ? '' : ` for ${story.authority}`} from ${story.client}, ${story.time}`,
    `written down because ${reasons[story.because]}; ${ms(story.given_ms)} were given`,
    ...(story.hash === null ? [] : [`it sticks to the key ${story.hash.toString(16).padStart(8, '0')}`]),
    ...(story.queued_ms === null ? [] : [`it waited in the queue for ${ms(story.queued_ms)}`]),
    ...story.picks.flatMap((pick, index) => ['', ...pickLines(pick, index + 1)]),
    ...(story.attempts.length === 0 ? [] : ['', ...story.attempts.map(attemptLine)]),
    '',
    `${outcome(story)} after ${ms(story.duration_ms)}, with ${ms(story.left_ms)} left${retriesLeft(story)}`,
  ];
  return `${lines.join('\n')}\n`;
}

function retriesLeft(story: Story): string {
  return story.retries_left === null ? '' : ` and ${Math.floor(story.retries_left)} retries left in the budget of all`;
}

const reasons: Record<Story['because'], string> = {
  sampled: 'it was drawn',
  asked: 'it asked for it',
  failed: 'it was not served',
};

function pickLines(pick: PickStory, nth: number): readonly string[] {
  const who = pick.chosen ?? 'nobody';
  const head = pick.afterwards
    ? `the fleet when it had failed, under ${pick.policy}`
    : `pick ${nth}, at ${ms(pick.at_ms)}, by ${pick.policy}: ${who}`;
  const drawn = pick.drawn.length === 0 ? '' : `; compared were ${pick.drawn.join(' and ')}`;
  const width = Math.max(0, ...pick.candidates.map((candidate) => candidate.endpoint.length));
  return [
    `${head}${drawn}`,
    ...pick.candidates.map((candidate) => candidateLine(candidate, width, candidate.endpoint === pick.chosen)),
    ...(pick.left_out === 0 ? [] : [`  and ${pick.left_out} more`]),
  ];
}

function candidateLine(candidate: Candidate, width: number, chosen: boolean): string {
  const parts = [
    `  ${candidate.endpoint.padEnd(width)}`,
    `${candidate.in_flight} in flight`,
    ...(candidate.weight === 1 ? [] : [`weight ${candidate.weight}`]),
    ...(candidate.zone === null ? [] : [`zone ${candidate.zone}`]),
    ...(candidate.priority === 0 ? [] : [`level ${candidate.priority}`]),
    ...(candidate.score === null ? [] : [`score ${digits(candidate.score)}`]),
    ...(chosen ? ['chosen'] : []),
    ...(candidate.excluded === null || chosen ? [] : [`out: ${exclusionWords[candidate.excluded]}`]),
  ];
  return parts.join('   ');
}

const exclusionWords: Record<Exclude<Candidate['excluded'], null>, string> = {
  drained: 'an operator drains it',
  'set-down': 'an operator has set it down',
  'no-weight': 'it has no weight',
  'outside-subset': 'it is not in this gateway’s part of the fleet',
  'checks-fail': 'its checks fail',
  ejected: 'it was ejected for what it answered',
  'breaker-open': 'its breaker is open',
  tried: 'it was tried already',
};

function attemptLine(attempt: AttemptStory): string {
  const end =
    attempt.end === 'answered' ? 'answered' : attempt.end === 'broken-off' ? 'broken off' : `failed: ${attempt.end}`;
  return `${attempt.kind} attempt at ${ms(attempt.at_ms)} to ${attempt.endpoint}, ${attempt.connection} connection: ${end} after ${ms(attempt.took_ms)}`;
}

function outcome(story: Story): string {
  const flags = story.flags === '-' ? '' : ` (${story.flags})`;
  return story.status === 0 ? `no answer: ${story.way}${flags}` : `${story.status}, ${story.way}${flags}`;
}

function ms(value: number): string {
  const places = value < 1 ? 3 : value < 100 ? 1 : 0;
  return `${value.toFixed(places)} ms`;
}

function digits(value: number): string {
  return value === 0 ? '0' : String(Number(value.toPrecision(3)));
}
