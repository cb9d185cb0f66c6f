/** `network.tls_allowlist`: which hosts may show a certificate nobody known has signed, or one of another name. Nothing else is
 *  forgiven: an expired one is refused. Not here: connecting (http-client.ts). Spec: network.yaml. */
import type { TlsAllowEntry } from '../metadata/schema/policy.ts';

/** May the certificate of this host be self-signed? */
export type TrustsSelfSigned = (url: URL) => boolean;

/** What OpenSSL and Node call what is forgiven. */
const SELF_SIGNED: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** `suffix` is a port; without it, any. An entry without permissions gives the only one there is. */
export function isTrusted(entries: readonly TlsAllowEntry[], url: URL): boolean {
  const port = url.port || '443';
  return entries.some(
    ({ host, suffix, permissions }) =>
      host.toLowerCase() === url.hostname &&
      (suffix === undefined || suffix === port) &&
      (permissions?.includes('self-signed') ?? true),
  );
}

export function isAllowedFault(code: string): boolean {
  return SELF_SIGNED.has(code);
}
