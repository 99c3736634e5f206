// How balancers call their policies, and what we call them: one word for one thing, whichever program it is.

const words: Readonly<Record<string, string>> = {
  roundrobin: 'round-robin',
  rr: 'round-robin',
  staticrr: 'round-robin',
  wrr: 'round-robin',
  weightedroundrobin: 'round-robin',
  leastconn: 'least-request',
  leastconnection: 'least-request',
  leastconnections: 'least-request',
  leastrequest: 'least-request',
  leastoutstandingrequests: 'least-request',
  leasttime: 'least-time',
  ewma: 'peak-ewma',
  peakewma: 'peak-ewma',
  random: 'random',
  weightedrandom: 'random',
  poweroftwochoices: 'two-choices',
  p2c: 'two-choices',
  pickfirst: 'pick-first',
  first: 'first',
  iphash: 'hash',
  sourceiphash: 'hash',
  source: 'hash',
  uri: 'hash',
  urlparam: 'hash',
  hdr: 'hash',
  hash: 'hash',
  ringhash: 'hash',
  maglev: 'hash',
  chash: 'hash',
  consistenthash: 'hash',
  requesthash: 'hash',
  cookie: 'cookie',
};

/** Our word for a balancing policy; the words as written, in lower case, when it is none that we know. */
export function policyWord(text: string): string {
  const plain = text.trim().toLowerCase();
  return words[plain.replaceAll(/[^a-z0-9]/g, '')] ?? plain.replaceAll('_', '-');
}

/** Whether this is the name of a policy. */
export function isPolicyWord(text: string): boolean {
  return (
    words[
      text
        .trim()
        .toLowerCase()
        .replaceAll(/[^a-z0-9]/g, '')
    ] !== undefined
  );
}
