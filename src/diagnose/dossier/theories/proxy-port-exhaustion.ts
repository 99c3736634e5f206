// The proxy has no source port left towards a server.

import { say } from '../../wording.ts';
import { claim, type DossierTheory } from '../theory.ts';
import { portsOf } from '../view-ports.ts';
import { sayTime } from '../view-words.ts';
import { timeWaitSeconds } from '../view-kernel.ts';

export const proxyPortExhaustion: DossierTheory = {
  slug: 'proxy-port-exhaustion',
  title: 'The proxy ran out of source ports',
  mechanism:
    'Every connection from one address to one server needs a source port of its own, and keeps it for 60 s after it was closed. ' +
    'A proxy that makes a new connection for every request cannot make more than ports ÷ 60 s of them a second to one server; beyond that ' +
    'connect() fails at once, on the proxy’s side. The servers see nothing.',
  refutedBy: 'Sockets towards the server far below the range of ports.',
  provedBy: 'The proxy’s own error for want of an address, or as many sockets to one server as there are ports.',
  lookAlikes: ['generator-port-exhaustion', 'conntrack-full', 'a server that refuses connections'],
  fix: 'Keep connections to the servers alive, more source or target addresses, a wider range (net.ipv4.ip_local_port_range), tcp_tw_reuse.',
  decidedBy: 'the proxy’s errors, sockets by destination on the proxy’s host (ss), and the range of ports',
  explains: ['retry-storm', 'unreachable-target', 'passive-eviction-last-peer'],

  examine(view) {
    const ports = portsOf(view);
    const { range, said, timeWait, toOne, ceiling } = ports;
    const onProxy = said.who === 'proxy' || (view.results.length === 0 && said.who !== 'generator');
    if (!onProxy || (said.count === 0 && (toOne === undefined || toOne.value < 0.5 * range.ports))) return undefined;
    const full = toOne === undefined ? undefined : toOne.value / range.ports;
    return {
      claims: [
        claim('The proxy could not get an address to connect from.', {
          bearing: 'sufficient',
          predicted: 'EADDRNOTAVAIL of the proxy',
          refutes: 'no such error',
          seen:
            said.who !== 'proxy'
              ? undefined
              : { text: `${said.count} errors`, holds: said.count > 0, origins: said.origins },
          missing: 'the proxy’s error log',
        }),
        claim('As many sockets lead to one server as there are ports.', {
          bearing: 'sufficient',
          predicted: `${range.ports}, within 3 % (${range.text})`,
          refutes: 'far fewer',
          seen:
            toOne === undefined || full === undefined
              ? undefined
              : { text: toOne.text, holds: full >= 0.97 && full <= 1.1, origins: toOne.origins },
          missing: 'sockets by destination (ss -tan)',
        }),
        claim('Ports are in use or waiting.', {
          bearing: 'necessary',
          predicted: `at least ${Math.round(range.ports / 2)} in TIME_WAIT or open`,
          refutes: 'hardly any',
          seen:
            timeWait === undefined && toOne === undefined
              ? undefined
              : {
                  text: `${Math.max(timeWait?.value ?? 0, toOne?.value ?? 0)}`,
                  holds: Math.max(timeWait?.value ?? 0, toOne?.value ?? 0) >= range.ports / 2,
                  origins: timeWait?.origins ?? toOne?.origins ?? [],
                },
          missing: 'sockets in TIME_WAIT on the proxy’s host',
        }),
      ],
      culprit: `source ports of the proxy towards ${toOne?.text.split(' to ')[1] ?? 'one server'} (${range.ports} ports, ${timeWaitSeconds} s TIME_WAIT)`,
      sentence: `The proxy has ${range.ports} source ports towards one server and keeps each for ${sayTime(timeWaitSeconds)} after use: beyond ${ceiling.toFixed(0)} new connections a second it has none left, and connecting fails at once.`,
      arithmetic: [
        `${range.ports} × ${ports.targets} ÷ ${timeWaitSeconds} s = ${say(ceiling, 'requests/s')} new connections`,
      ],
    };
  },
};
