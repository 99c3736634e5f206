// The `upstream` groups of an nginx configuration: the policy that balances and the servers in their order. Only what a
// verdict needs; a group without a policy directive is round robin, nginx's default. A comment after a server names it:
//
//   upstream api { least_conn; server 127.0.0.1:8081; # api-1
//                              server 127.0.0.1:8082; # api-2 }

export interface NginxUpstream {
  readonly name: string;
  readonly policy: string;
  readonly servers: readonly { readonly address: string; readonly label: string | undefined }[];
}

export function isNginxConfiguration(text: string): boolean {
  return /^\s*upstream\s+\S+\s*\{/m.test(text);
}

export function parseNginxUpstreams(text: string): NginxUpstream[] {
  const groups: NginxUpstream[] = [];
  for (const match of text.matchAll(/^\s*upstream\s+(\S+)\s*\{([^}]*)\}/gm)) {
    const body = match[2] ?? '';
    const servers = [...body.matchAll(/^\s*server\s+([^\s;]+)[^;]*;[ \t]*(?:#[ \t]*(\S+))?/gm)].map((server) => ({
      address: server[1] ?? '',
      label: server[2],
    }));
    groups.push({ name: match[1] ?? '', policy: policyOf(body), servers });
  }
  return groups;
}

function policyOf(body: string): string {
  if (/^\s*least_conn\s*;/m.test(body)) return 'least-request';
  if (/^\s*random\b/m.test(body)) return 'random';
  if (/^\s*ip_hash\s*;/m.test(body)) return 'ip-hash';
  if (/^\s*hash\s+/m.test(body)) return 'hash';
  return 'round-robin';
}
