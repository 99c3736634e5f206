// Lists of sockets: `ss -lnt`, `ss -tan`, `ss -tin`, `netstat -ant`, one look or several with the time of each above it.
//
//   # 2026-03-11T14:00:00Z
//   State   Recv-Q  Send-Q  Local Address:Port  Peer Address:Port
//   LISTEN  382     511     0.0.0.0:8080        0.0.0.0:*
//   ESTAB   0       0       10.0.0.1:40000      10.0.0.2:80
//         cubic rto:204 rtt:0.512/0.25 retrans:0/3
//
// Of a listening socket Recv-Q is how many completed connections wait for accept and Send-Q how many may: the backlog as the
// kernel has it. Other sockets are counted, by state and by peer; so a list of any length leaves few facts.

import { type LineFormat, type LineReader, shareOfLines } from '../format.ts';
import { leadingInstant } from '../instants.ts';
import { Points } from '../points.ts';
import type { Sink } from '../sink.ts';
import { tcpState } from './tcp-states.ts';

const ssHead = /^\s*(?:Netid\s+)?State\s+Recv-Q\s+Send-Q\s+Local/;
const netstatHead = /^Proto\s+Recv-Q\s+Send-Q\s+Local Address/;
const other = /^Active (?:Internet|UNIX)/;
const ssRow = /^\s*(?:(?:tcp|udp|u_str|mptcp|tcp6)\s+)?([A-Z][A-Z0-9-]+)\s+(\d+)\s+(\d+)\s+(\S+:\S+)(?:\s+(\S+:\S+))?/;
const netstatRow = /^(?:tcp6?|udp6?)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+([A-Z][A-Z0-9_]+)/;
const info = /^\s+.*\b(?:rto:|cwnd:|rtt:|skmem:)/;
const peersMax = 100_000;
const peersWritten = 200;

export const sockets: LineFormat = {
  kind: 'lines',
  name: 'list of sockets',
  recognise(head) {
    if (new RegExp(ssHead, 'm').test(head) || new RegExp(netstatHead, 'm').test(head)) return 1;
    const share = shareOfLines(head, (line) => rowOf(line) !== undefined);
    return share > 0.5 ? 0.5 + 0.4 * share : 0;
  },
  open: socketsReader,
};

interface SocketRow {
  readonly state: string;
  readonly receive: number;
  readonly send: number;
  readonly local: string;
  readonly peer: string;
  /** Whether the queues of a listening socket mean its backlog: netstat says nothing of it. */
  readonly queues: boolean;
}

function rowOf(line: string): SocketRow | undefined {
  const found = ssRow.exec(line);
  const state = found === null ? undefined : tcpState(found[1] ?? '');
  if (found !== null && state !== undefined) {
    const [, , receive, send, local = '', peer = ''] = found;
    return { state, receive: Number(receive), send: Number(send), local, peer, queues: true };
  }
  const listed = netstatRow.exec(line);
  const known = tcpState(listed?.[5] ?? '');
  if (listed === null || known === undefined) return undefined;
  const [, receive, send, local = '', peer = ''] = listed;
  return { state: known, receive: Number(receive), send: Number(send), local, peer, queues: Number(send) > 0 };
}

interface PeerTotals {
  count: number;
  roundTrips: number;
  roundTripMs: number;
  retransmits: number;
}

function socketsReader(sink: Sink): LineReader {
  const listeners = new Points();
  const backlogs = new Map<string, number>();
  let states = new Map<string, number>();
  let peers = new Map<string, PeerTotals>();
  let lastPeer: PeerTotals | undefined;
  let atMs: number | undefined;
  let rows = 0;

  return {
    line(text, number) {
      const time = leadingInstant(text.replace(/^[#\s=-]+/, ''));
      if (time !== undefined) {
        beginLook();
        atMs = time.ms;
        return true;
      }
      if (ssHead.test(text) || netstatHead.test(text)) {
        beginLook();
        return true;
      }
      const row = rowOf(text);
      if (row !== undefined) {
        read(row, number);
        return true;
      }
      if (info.test(text)) {
        readInfo(text);
        return true;
      }
      return other.test(text);
    },
    end() {
      endLook();
      listeners.write(sink);
    },
  };

  /** A head or a time begins another look, once the one before has rows. */
  function beginLook(): void {
    if (rows === 0) return;
    endLook();
    sink.nextReading();
  }

  function read(row: SocketRow, line: number): void {
    rows += 1;
    if (row.state === 'listen') {
      if (row.queues) readListener(row, line);
      return;
    }
    states.set(row.state, (states.get(row.state) ?? 0) + 1);
    lastPeer = undefined;
    if (row.peer === '' || row.peer.endsWith(':*')) return;
    lastPeer = peers.get(row.peer) ?? { count: 0, roundTrips: 0, roundTripMs: 0, retransmits: 0 };
    lastPeer.count += 1;
    if (peers.size < peersMax) peers.set(row.peer, lastPeer);
  }

  function readListener(row: SocketRow, line: number): void {
    const labels = { listener: row.local };
    const gauge = { type: 'gauge', atMs, line } as const;
    sink.sample('listen_accept_queue', labels, row.receive, gauge);
    sink.sample('listen_accept_queue_limit', labels, row.send, gauge);
    if (atMs !== undefined) listeners.add('listen_accept_queue', labels, atMs, row.receive);
    if (backlogs.get(row.local) === row.send) return;
    backlogs.set(row.local, row.send);
    sink.setting({ program: 'kernel', scope: `listener ${row.local}`, key: 'listen.backlog', value: row.send, line });
  }

  function readInfo(text: string): void {
    if (lastPeer === undefined) return;
    const time = /\brtt:([\d.]+)/.exec(text)?.[1];
    if (time !== undefined) {
      lastPeer.roundTrips += 1;
      lastPeer.roundTripMs += Number(time);
    }
    lastPeer.retransmits += Number(/\bretrans:\d+\/(\d+)/.exec(text)?.[1] ?? 0);
  }

  function endLook(): void {
    const gauge = { type: 'gauge', atMs } as const;
    for (const [state, count] of states) sink.sample(`tcp_${state}`, {}, count, gauge);
    const ordered = [...peers].toSorted(([, one], [, two]) => two.count - one.count);
    for (const [peer, totals] of ordered.slice(0, peersWritten)) {
      sink.sample('sockets_to_peer', { peer }, totals.count, gauge);
      if (totals.roundTrips === 0) continue;
      const mean = totals.roundTripMs / totals.roundTrips / 1000;
      sink.sample('tcp_round_trip_seconds', { peer }, mean, gauge);
      sink.sample('tcp_retransmits_total', { peer }, totals.retransmits, { ...gauge, type: 'counter' });
    }
    if (peers.size > peersWritten) {
      sink.remark(`of ${peers.size} peers the ${peersWritten} with most sockets are kept`);
      sink.sample('socket_peers', {}, peers.size, gauge);
    }
    states = new Map();
    peers = new Map();
    lastPeer = undefined;
    rows = 0;
  }
}
