// A JSON or YAML file of no format in particular: what somebody wrote down, or what a program says of itself. Names that are
// settings become settings; numbers become samples named by their path; a few shapes say what they are:
//
//   {"a": "healthy", "b": "down"}                    the health of endpoints
//   {"shop": [{"addr": "10.0.2.11:8080"}, …]}         a registry: the endpoints of a service, in its order
//   {"workers": [{"id": 1, "requests": 40}, …]}       a table: samples with the row's name as label
//   {"before_run": {…}, "after_run": {…}}             two readings
//
// Words that no rule knows are counted as not understood.

import type { SettingKey } from '../../record.ts';
import { firstLines, type WholeFormat } from './format.ts';
import { healthOf } from './plain-table.ts';
import { parseNumber, parseSeconds } from './quantities.ts';
import { placeOf } from './readings.ts';
import { matterOf, type Matter, settingOf, wordsOf } from './setting-words.ts';
import type { Sink } from './sink.ts';
import {
  itemsAt,
  type ListTree,
  type MapTree,
  mapsIn,
  parseJson,
  parseTrees,
  type ScalarTree,
  textAt,
  type Tree,
  under,
} from './tree.ts';

export const plainSettings: WholeFormat = {
  kind: 'whole',
  name: 'settings and numbers',
  early: true,
  recognise(head) {
    if (/^\s*[[{]/.test(head)) return parseJson(head) !== undefined || head.length >= 65_000 ? 0.4 : 0;
    // Nearly any text with colons is YAML to a YAML parser: only what has a setting in it is taken for one.
    if (firstLines(head, 1).every((line) => !/^(?:---|[A-Za-z_"'][\w ."'-]*:(?:\s|$))/.test(line))) return 0;
    const tree = parseTrees(head)?.[0];
    if (tree?.kind !== 'map') return 0;
    return scalarsIn(tree, '').some(({ path, tree: found }) => settingOf(path, found.value, 'program') !== undefined) ||
      routesIn(tree).length > 0
      ? 0.42
      : 0;
  },
  read(text, sink) {
    const trees = parseTrees(text);
    if (trees === undefined) {
      sink.foreign(1, firstLines(text, 1)[0] ?? '');
      return;
    }
    for (const tree of trees) {
      readRoutes(tree, sink);
      readTree(tree, sink);
    }
  },
};

function readTree(tree: Tree, sink: Sink): void {
  const reader = new PlainReader(sink, tree);
  if (tree.kind === 'map' && isBeforeAndAfter(tree)) {
    for (const [index, inner] of inOrder(tree).entries()) {
      if (index > 0) sink.nextReading();
      reader.read(inner, '');
    }
  } else reader.read(tree, '');
}

/** Two or more parts, all of them maps, whose names begin with a word of order. */
function isBeforeAndAfter(tree: MapTree): boolean {
  const entries = [...tree.entries];
  return entries.length > 1 && entries.every(([name, inner]) => inner.kind === 'map' && orderOf(name) !== undefined);
}

function inOrder(tree: MapTree): Tree[] {
  return [...tree.entries]
    .toSorted(([one], [other]) => (orderOf(one) ?? 0) - (orderOf(other) ?? 0))
    .map(([, inner]) => inner);
}

function orderOf(name: string): number | undefined {
  return wordsOf(name)
    .split('-')
    .map(placeOf)
    .find((place) => place !== undefined);
}

interface FoundScalar {
  readonly path: string;
  readonly tree: ScalarTree;
}

/** Every scalar under maps, by its path. Lists are looked at for their shape, elsewhere. */
function scalarsIn(tree: Tree, path: string): FoundScalar[] {
  if (tree.kind === 'scalar') return [{ path, tree }];
  if (tree.kind === 'list') return [];
  return [...tree.entries].flatMap(([name, inner]) => scalarsIn(inner, path === '' ? name : `${path}.${name}`));
}

class PlainReader {
  readonly #sink: Sink;
  readonly #program: string;
  readonly #scope: string;
  readonly #matter: Matter;
  readonly #names: ReadonlySet<string>;

  constructor(sink: Sink, tree: Tree) {
    this.#sink = sink;
    this.#scope = sink.file.replace(/^.*[/\\]/, '').replace(/\.[^.]*$/, '');
    const scalars = scalarsIn(tree, '');
    this.#matter = matterOf(scalars.map((one) => one.path));
    this.#names = new Set(scalars.map((one) => wordsOf(one.path.replace(/^.*\./, ''))));
    this.#program = this.#matter === 'load' ? 'load-generator' : programOf(tree);
    if (this.#matter === 'load') this.#impliedModel(tree, scalars);
  }

  read(tree: Tree, path: string, implied = false): void {
    if (tree.kind === 'scalar') this.#scalar(tree, path, this.#scope, implied);
    else if (tree.kind === 'list') this.#list(tree, path);
    else if (tree.entries.has('executor')) this.#scenario(tree, path);
    else if (!this.#isHealth(tree, path) && !this.#isEndpoints(tree, path)) {
      // Somebody notes beside a value that nobody had set it.
      const said = [...tree.entries].find(([name]) => /^(?:set-)?explicit(?:ly)?$/.test(wordsOf(name)))?.[1];
      const unset = said?.kind === 'scalar' && said.value === false;
      for (const [name, inner] of tree.entries) {
        if (inner === said) this.#sink.understood();
        else this.read(inner, path === '' ? name : `${path}.${name}`, unset);
      }
    }
  }

  #scalar(tree: ScalarTree, path: string, scope: string, implied: boolean): void {
    const found = settingOf(path, tree.value, this.#matter) ?? this.#bareTimeout(tree, path);
    const { line } = tree;
    if (found !== undefined) {
      this.#sink.setting({ program: this.#program, scope, ...found, implied, line });
      this.#sink.understood();
      return;
    }
    const value = parseNumber(tree.value);
    if (value !== undefined) {
      this.#sink.sample(sampleName(path), {}, value, { line });
      this.#sink.understood();
    } else if (tree.value !== undefined) this.#sink.foreign(line ?? 0, `${path}: ${String(tree.value)}`);
  }

  /** `timeout`, and nothing more: where attempts are counted beside it, it is for one of them, else for the request. */
  #bareTimeout(tree: ScalarTree, path: string): { key: SettingKey; value: number | string | boolean } | undefined {
    const name = path.replace(/^.*\./, '');
    if (!/^timeout(?:-(?:ms|s|sec|seconds|millis))?$/.test(wordsOf(name))) return undefined;
    const tries = [...this.#names].some((word) => /attempts|retries|tries/.test(word));
    const found = settingOf(`request-${name}`, tree.value, 'program');
    if (found === undefined) return undefined;
    return { key: tries ? 'route.per-try-timeout' : 'downstream.request-timeout', value: found.value };
  }

  /** A scenario of k6: its executor says whether the loop is closed, and a rate is counted per `timeUnit`. */
  #scenario(tree: MapTree, path: string): void {
    const scope = path.replace(/^.*\./, '') || this.#scope;
    const executor = under(tree, 'executor');
    const model = textAt(tree, 'executor')?.includes('arrival-rate') === true ? 'open' : 'closed';
    const setting = { program: this.#program, scope };
    this.#sink.setting({ ...setting, key: 'load.model', value: model, line: executor?.line });
    this.#sink.understood();
    const unit = parseSeconds(textAt(tree, 'timeUnit') ?? '1s') ?? 1;
    for (const [name, inner] of tree.entries) {
      if (name === 'executor' || name === 'timeUnit') continue;
      if (inner.kind !== 'scalar') this.read(inner, `${path}.${name}`);
      else if (name === 'rate') {
        const rate = parseNumber(inner.value);
        if (rate !== undefined)
          this.#sink.setting({ ...setting, key: 'load.rate', value: rate / unit, line: inner.line });
        this.#sink.understood();
      } else this.#scalar(inner, `${path}.${name}`, scope, false);
    }
  }

  #impliedModel(tree: Tree, scalars: readonly FoundScalar[]): void {
    const keys = new Set(scalars.flatMap(({ path, tree: found }) => settingOf(path, found.value, 'load')?.key ?? []));
    const executors = [...mapsIn(tree)].some((map) => map.entries.has('executor'));
    if (keys.has('load.model') || executors) return;
    const tool = textAt(tree, 'tool') ?? '';
    const open = /vegeta|wrk2|tsung|gatling/i.test(tool) || (tool === '' && keys.has('load.rate'));
    if (!open && !keys.has('load.users') && !keys.has('load.connections')) return;
    const value = open ? 'open' : 'closed';
    this.#sink.setting({
      program: this.#program,
      scope: this.#scope,
      key: 'load.model',
      value,
      implied: true,
      line: tree.line,
    });
  }

  /** A map of names to words of health. */
  #isHealth(tree: MapTree, path: string): boolean {
    const entries = [...tree.entries];
    const words = entries.map(([, inner]) =>
      inner.kind === 'scalar' && typeof inner.value === 'string' ? healthOf(inner.value) : undefined,
    );
    if (entries.length === 0 || words.some((word) => word === undefined)) return false;
    const labels = path === '' ? {} : { path };
    for (const [index, [endpoint, inner]] of entries.entries()) {
      this.#sink.sample('endpoint_healthy', { ...labels, endpoint }, words[index] ?? 0, {
        type: 'gauge',
        line: inner.line,
      });
      this.#sink.understood();
    }
    return true;
  }

  /** A map of addresses to weights. */
  #isEndpoints(tree: MapTree, path: string): boolean {
    const names = [...tree.entries.keys()];
    const listed = hostsPath.test(path);
    if (names.length === 0 || !listed || !names.every((name) => isAddress(name))) return false;
    this.#endpoints(names, path, tree);
    return true;
  }

  #endpoints(addresses: readonly string[], path: string, tree: Tree): void {
    const setting = { program: this.#program, scope: path === '' ? this.#scope : path, line: tree.line };
    this.#sink.setting({ ...setting, key: 'upstream.endpoints', value: addresses.length });
    this.#sink.setting({ ...setting, key: 'upstream.endpoint-list', value: addresses.join() });
    const service = path.replace(/^.*\./, '');
    for (const address of addresses) {
      this.#sink.hints.addresses.add(address);
      if (service !== '' && !this.#sink.hints.servers.has(address)) {
        this.#sink.hints.servers.set(address, { service, label: undefined });
      }
    }
    this.#sink.understood(addresses.length);
  }

  #list(tree: ListTree, path: string): void {
    const texts = tree.items.map((item) =>
      item.kind === 'scalar' && typeof item.value === 'string' ? item.value : undefined,
    );
    if (texts.length > 0 && texts.every((text) => text !== undefined && isAddress(text))) {
      this.#endpoints(
        texts.filter((text) => text !== undefined),
        path,
        tree,
      );
      return;
    }
    const addresses = tree.items.map(addressOf);
    if (addresses.length > 0 && addresses.every((address) => address !== undefined)) {
      this.#registry(tree, addresses, path);
      // A list of hosts with counts is a table as well.
      for (const [index, item] of tree.items.entries()) {
        if (item.kind === 'map' && isCounted(item)) this.#row(item, path, index);
      }
      return;
    }
    this.#namedHosts(tree, path);
    for (const [index, item] of tree.items.entries()) {
      if (item.kind === 'map') this.#row(item, path, index);
      else if (item.kind === 'list') this.#list(item, `${path}.${index}`);
      else if (item.value !== undefined) this.#sink.foreign(item.line ?? 0, `${path}: ${String(item.value)}`);
    }
  }

  /** Hosts that have names instead of addresses, where something is said of their health. */
  #namedHosts(tree: ListTree, path: string): void {
    const names = tree.items.map((item) => textAt(item, 'name') ?? textAt(item, 'id'));
    if (!hostsPath.test(path) || names.length < 2 || names.some((name) => name === undefined)) return;
    if (tree.items.every((item) => stateOf(item) === undefined)) return;
    this.#registry(
      tree,
      names.filter((name) => name !== undefined),
      path,
    );
  }

  #registry(tree: ListTree, addresses: readonly string[], path: string): void {
    this.#endpoints(addresses, path, tree);
    for (const [index, item] of tree.items.entries()) {
      const health = stateOf(item);
      if (health === undefined) continue;
      const labels = { endpoint: addresses[index] ?? '', ...(path === '' ? {} : { service: path }) };
      this.#sink.sample('endpoint_healthy', labels, health, { type: 'gauge', line: item.line });
    }
  }

  /** One row of a table: its numbers, labelled by what names it. */
  #row(row: MapTree, path: string, index: number): void {
    const table = wordsOf(path.replace(/^.*\./, '')).replace(/s$/, '') || 'row';
    const name = ['id', 'name', 'pid', ...kindsOfHosts, 'worker', 'key'].find((key) => textAt(row, key) !== undefined);
    const labels: Record<string, string> = { [table]: name === undefined ? String(index) : (textAt(row, name) ?? '') };
    // A row that names a host says what kind of thing it is; what the list is called need not.
    if (name !== undefined && (name === 'pid' || name === 'worker' || kindsOfHosts.includes(name)))
      labels[name] = textAt(row, name) ?? '';
    for (const [key, inner] of row.entries) {
      if (inner.kind === 'scalar' && typeof inner.value === 'string' && key !== name) labels[key] = inner.value;
    }
    for (const [key, inner] of row.entries) {
      if (key === name || key === 'pid') continue;
      const value = inner.kind === 'scalar' && typeof inner.value !== 'string' ? inner.value : undefined;
      if (value !== undefined)
        this.#sink.sample(sampleName(`${table}.${key}`), labels, Number(value), { line: inner.line });
      if (value !== undefined) this.#sink.understood();
      if (inner.kind !== 'scalar') this.read(inner, `${path}.${key}`);
    }
  }
}

/** Whether something is counted of a host, beside where it is and what it weighs. */
function isCounted(row: MapTree): boolean {
  return [...row.entries].some(
    ([key, inner]) =>
      inner.kind === 'scalar' && typeof inner.value === 'number' && !/^(?:port|weight|priority|id|order)$/i.test(key),
  );
}

const kindsOfHosts = [
  'host',
  'pod',
  'server',
  'replica',
  'endpoint',
  'target',
  'instance',
  'backend',
  'upstream',
  'node',
  'address',
];

function programOf(tree: Tree): string {
  const runtime = [...mapsIn(tree)].map((map) => textAt(map, 'runtime')).find((text) => text !== undefined);
  return /^([a-z]+)/i.exec(runtime ?? '')?.[1]?.toLowerCase() ?? 'file';
}

const hostsPath = /(?:^|\.)(?:nodes|endpoints|servers|backends|upstreams|targets|hosts|members|instances|replicas)$/;

/** 1 or 0 when a word or a truth value says how a host is. */
function stateOf(item: Tree): 0 | 1 | undefined {
  for (const key of ['health', 'healthy', 'status', 'state', 'up', 'alive']) {
    const text = textAt(item, key);
    if (text !== undefined) return text === 'false' ? 0 : healthOf(text);
  }
  return undefined;
}

function addressOf(item: Tree): string | undefined {
  const found = ['addr', 'address', 'host', 'ip', 'endpoint', 'url']
    .map((key) => textAt(item, key))
    .find((text) => text !== undefined);
  if (found === undefined) return undefined;
  const port = textAt(item, 'port');
  return port === undefined || /:\d+$/.test(found) ? found : `${found}:${port}`;
}

/** `10.0.0.1`, `name:80`, `http://host/`. */
function isAddress(text: string): boolean {
  return /^(?:[a-z]+:\/\/)?(?:\d{1,3}(?:\.\d{1,3}){3}|[\w.-]+:\d+|\[[\da-f:]+\])(?::\d+)?\/?$/i.test(text);
}

/** `a.bC` → `a_b_c`. */
function sampleName(path: string): string {
  return wordsOf(path).replaceAll('-', '_') || 'value';
}

/** Spring Cloud Gateway: a route leads to `lb://service`, which its load balancer resolves, in turns unless told otherwise. */
function routesIn(tree: Tree): Tree[] {
  return [...mapsIn(tree)]
    .flatMap((map) => itemsAt(map, 'routes'))
    .filter((route) => textAt(route, 'uri') !== undefined);
}

function readRoutes(tree: Tree, sink: Sink): void {
  const services = new Set<string>();
  for (const route of routesIn(tree)) {
    const uri = textAt(route, 'uri') ?? '';
    const service = /^lb:\/\/([^/]+)/.exec(uri)?.[1];
    const setting = { program: 'spring-cloud-gateway', line: route.line };
    sink.setting({
      ...setting,
      scope: `route ${textAt(route, 'id') ?? uri}`,
      key: 'route.target',
      value: service ?? uri,
    });
    if (service === undefined || services.has(service)) continue;
    services.add(service);
    sink.setting({
      ...setting,
      scope: `service ${service}`,
      key: 'balance.policy',
      value: 'round-robin',
      implied: true,
    });
  }
}
