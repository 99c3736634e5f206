// The states of a TCP connection, in the three spellings of Linux: `TIME-WAIT` (ss), `TIME_WAIT` (netstat, conntrack),
// `timewait` (the summary of ss).

const states = [
  'established',
  'syn_sent',
  'syn_recv',
  'fin_wait_1',
  'fin_wait_2',
  'fin_wait',
  'time_wait',
  'close',
  'closed',
  'close_wait',
  'last_ack',
  'listen',
  'closing',
  'orphaned',
  'unconn',
  'none',
] as const;

const other: Readonly<Record<string, string>> = {
  estab: 'established',
  timewait: 'time_wait',
  synrecv: 'syn_recv',
  syn_received: 'syn_recv',
  syn_sent2: 'syn_sent',
  fin_wait1: 'fin_wait_1',
  fin_wait2: 'fin_wait_2',
  listening: 'listen',
};

/** The state in one spelling, `time_wait`; undefined when the word is none. */
export function tcpState(word: string): string | undefined {
  const plain = word.trim().toLowerCase().replaceAll('-', '_');
  return other[plain] ?? states.find((state) => state === plain);
}
