// `sysctl -a`, `/etc/sysctl.conf`: kernel parameters by their dotted names. The ones that bind load become settings; every number
// becomes a sample under its whole name, since some of them count (`net.netfilter.nf_conntrack_count`).

import type { SettingKey } from '../../../record.ts';
import { shareOfLines, type WholeFormat } from '../format.ts';
import { parseNumber } from '../quantities.ts';
import type { Sink } from '../sink.ts';

const pair = /^\s*-?((?:net|kernel|vm|fs|user|dev|abi|debug)(?:[./][\w-]+)+)\s*[=:]\s*(.*?)\s*$/;
const comment = /^\s*(?:[#;]|sysctl:)/;

type Kind = 'number' | 'truth' | 'range';

const known: Readonly<Record<string, { readonly key: SettingKey; readonly kind: Kind }>> = {
  'net.core.somaxconn': { key: 'kernel.somaxconn', kind: 'number' },
  'net.ipv4.ip_local_port_range': { key: 'kernel.port-range-from', kind: 'range' },
  'net.netfilter.nf_conntrack_max': { key: 'kernel.conntrack-max', kind: 'number' },
  'net.nf_conntrack_max': { key: 'kernel.conntrack-max', kind: 'number' },
  'net.netfilter.nf_conntrack_tcp_timeout_close_wait': { key: 'kernel.conntrack-timeout-close-wait', kind: 'number' },
  'net.netfilter.nf_conntrack_tcp_timeout_time_wait': { key: 'kernel.conntrack-timeout-time-wait', kind: 'number' },
  'net.netfilter.nf_conntrack_tcp_timeout_established': { key: 'kernel.conntrack-timeout-established', kind: 'number' },
  'net.ipv4.tcp_syncookies': { key: 'kernel.syncookies', kind: 'truth' },
  'net.ipv4.tcp_max_syn_backlog': { key: 'kernel.syn-backlog', kind: 'number' },
  'net.ipv4.tcp_syn_retries': { key: 'kernel.syn-retries', kind: 'number' },
  'net.ipv4.tcp_abort_on_overflow': { key: 'kernel.abort-on-overflow', kind: 'truth' },
  'net.ipv4.tcp_tw_reuse': { key: 'kernel.reuse-time-wait', kind: 'truth' },
  'net.ipv4.tcp_fin_timeout': { key: 'kernel.fin-timeout', kind: 'number' },
  'net.ipv4.tcp_max_tw_buckets': { key: 'kernel.time-wait-max', kind: 'number' },
  'fs.file-max': { key: 'kernel.files-max', kind: 'number' },
  'fs.nr_open': { key: 'kernel.files-per-process-max', kind: 'number' },
};

export const sysctl: WholeFormat = {
  kind: 'whole',
  name: 'kernel parameters',
  recognise(head) {
    const pairs = shareOfLines(head, (line) => pair.test(line), 60);
    const rest = shareOfLines(head, (line) => comment.test(line), 60);
    return pairs > 0 && pairs + rest > 0.6 ? 0.6 + 0.4 * (pairs + rest) : 0;
  },
  read(text, sink) {
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      const found = pair.exec(line);
      if (found !== null) readPair((found[1] ?? '').replaceAll('/', '.'), found[2] ?? '', index + 1, sink);
      if (found !== null || comment.test(line)) sink.understood();
      else sink.foreign(index + 1, line);
    }
  },
};

function readPair(name: string, text: string, line: number, sink: Sink): void {
  const numbers = text.split(/\s+/).map(parseNumber);
  const [first, second] = numbers;
  if (first !== undefined && numbers.length === 1) {
    sink.sample(name.replaceAll(/[.-]/g, '_'), {}, first, { type: 'gauge', line });
  }
  const setting = known[name];
  if (setting === undefined || first === undefined) return;
  const where = { program: 'kernel', scope: 'sysctl', line };
  // 2 is on as well: reuse for loopback only, cookies always.
  const value = setting.kind === 'truth' ? first > 0 : first;
  sink.setting({ ...where, key: setting.key, value });
  if (setting.kind === 'range' && second !== undefined) {
    sink.setting({ ...where, key: 'kernel.port-range-to', value: second });
  }
}
