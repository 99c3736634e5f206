// Kubernetes objects, as manifests or as the API server tells them: YAML with several documents, JSON, lists. What an object
// says that matters to load and its balance becomes settings; events and statuses become events and samples.
//
// One reader a kind, in a table. Kinds that are not in it are passed over; they count as understood, since nothing in them
// was asked for.

import { firstLines, type WholeFormat } from './format.ts';
import { readEvent } from './kubernetes-events.ts';
import {
  readHttpProxy,
  readHttpRoute,
  readIngress,
  readDestinationRule,
  readVirtualService,
} from './kubernetes-routes.ts';
import { readAutoscaler, readEndpoints, readEndpointSlice, readService } from './kubernetes-services.ts';
import { readConfigMap, readPod, readWorkload } from './kubernetes-workloads.ts';
import type { Sink } from './sink.ts';
import { itemsAt, parseTrees, textAt, type Tree } from './tree.ts';

const readers: Readonly<Record<string, (object: Tree, sink: Sink) => void>> = {
  Deployment: readWorkload,
  StatefulSet: readWorkload,
  DaemonSet: readWorkload,
  ReplicaSet: readWorkload,
  Rollout: readWorkload,
  Pod: readPod,
  ConfigMap: readConfigMap,
  Service: readService,
  Endpoints: readEndpoints,
  EndpointSlice: readEndpointSlice,
  HorizontalPodAutoscaler: readAutoscaler,
  Ingress: readIngress,
  HTTPProxy: readHttpProxy,
  HTTPRoute: readHttpRoute,
  GRPCRoute: readHttpRoute,
  VirtualService: readVirtualService,
  DestinationRule: readDestinationRule,
  Event: readEvent,
};

export const kubernetes: WholeFormat = {
  kind: 'whole',
  name: 'Kubernetes objects',
  early: true,
  recognise(head) {
    const kind = /(?:^|[\s{,])["']?kind["']?\s*:\s*["']?([A-Z]\w+)/m.exec(head)?.[1];
    if (kind === undefined || /^\s*\{.*\}\s*\n\s*\{/.test(firstLines(head, 2).join('\n'))) return 0;
    const versioned = /["']?apiVersion["']?\s*:\s*["']?[\w./-]+/.test(head);
    if (versioned) return 0.97;
    return readers[kind] !== undefined && /["']?metadata["']?\s*:/.test(head) ? 0.9 : 0;
  },
  read(text, sink) {
    const trees = parseTrees(text);
    if (trees === undefined) {
      sink.foreign(1, firstLines(text, 1)[0] ?? '');
      return;
    }
    sink.understood(text.split('\n').filter((line) => line.trim() !== '' && line.trim() !== '---').length);
    for (const tree of trees) readObject(tree, sink, 0);
  },
};

function readObject(object: Tree, sink: Sink, depth: number): void {
  const kind = textAt(object, 'kind') ?? '';
  if (kind.endsWith('List') && depth < 3) {
    for (const item of itemsAt(object, 'items')) readObject(typed(item, kind), sink, depth + 1);
    return;
  }
  readers[kind]?.(object, sink);
}

/** In a `PodList` the items do not repeat what they are. */
function typed(item: Tree, list: string): Tree {
  if (item.kind !== 'map' || item.entries.has('kind') || list === 'List') return item;
  const kind: Tree = { kind: 'scalar', value: list.replace(/List$/, ''), line: item.line };
  return { ...item, entries: new Map([...item.entries, ['kind', kind]]) };
}
