/** An HTTPS server for tests, and the certificates it may use. No known authority has signed them, and all have the
 *  same key, which protects nothing. Created with `openssl ca`, valid from 2020 to 2120 unless they are expired. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

const KEY = `-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIDhW/gi4crzJXs/EgTDVnSa5eEN2BxV2f7YcH8po2pFaoAoGCCqGSM49
AwEHoUQDQgAES8qmRY1gU6xaLsXbnUZ1q+NNLH/vMvSp09KCvjR7wg32/pvTpreO
PXA2QwKSFYMJTAm2lXB2LMUPjQ2hD+BMVA==
-----END EC PRIVATE KEY-----`;

export const CERTIFICATES = {
  /** For localhost and 127.0.0.1. */
  selfSigned: `-----BEGIN CERTIFICATE-----
MIIBVTCB/KADAgECAgEBMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCWxvY2FsaG9z
dDAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFDESMBAGA1UEAwwJ
bG9jYWxob3N0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAES8qmRY1gU6xaLsXb
nUZ1q+NNLH/vMvSp09KCvjR7wg32/pvTpreOPXA2QwKSFYMJTAm2lXB2LMUPjQ2h
D+BMVKM9MDswGgYDVR0RBBMwEYIJbG9jYWxob3N0hwR/AAABMB0GA1UdDgQWBBR+
SojN4ZEBEsqOHmHPyN2HQPBpaDAKBggqhkjOPQQDAgNIADBFAiEAgI4peBwVvDCx
DVvu5uZRPXSEeNDOPRvxyhBlVHzBp0QCIDzim7pqsoVjuF1rQUcRHdVaGWnfoYAl
8m6XUQPz+UH1
-----END CERTIFICATE-----`,
  /** For another host name. */
  elsewhere: `-----BEGIN CERTIFICATE-----
MIIBYDCCAQWgAwIBAgIBAjAKBggqhkjOPQQDAjAZMRcwFQYDVQQDDA5lbHNld2hl
cmUudGVzdDAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowGTEXMBUG
A1UEAwwOZWxzZXdoZXJlLnRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARL
yqZFjWBTrFouxdudRnWr400sf+8y9KnT0oK+NHvCDfb+m9Omt449cDZDApIVgwlM
CbaVcHYsxQ+NDaEP4ExUozwwOjAZBgNVHREEEjAQgg5lbHNld2hlcmUudGVzdDAd
BgNVHQ4EFgQUfkqIzeGRARLKjh5hz8jdh0DwaWgwCgYIKoZIzj0EAwIDSQAwRgIh
AIxs5yPtTHgUECshU9QoQlfn2BuVuGyaCUfh5xTGgXFNAiEAmlHBin+reSSvh5kz
jmS+3n6RiFccH2c3iDuadfU8a6U=
-----END CERTIFICATE-----`,
  expired: `-----BEGIN CERTIFICATE-----
MIIBVDCB+qADAgECAgEDMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCWxvY2FsaG9z
dDAeFw0yMDAxMDEwMDAwMDBaFw0yMDAxMDIwMDAwMDBaMBQxEjAQBgNVBAMMCWxv
Y2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABEvKpkWNYFOsWi7F251G
davjTSx/7zL0qdPSgr40e8IN9v6b06a3jj1wNkMCkhWDCUwJtpVwdizFD40NoQ/g
TFSjPTA7MBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAdBgNVHQ4EFgQUfkqI
zeGRARLKjh5hz8jdh0DwaWgwCgYIKoZIzj0EAwIDSQAwRgIhAI/glJucDgHld6OF
cxZZMlV6bIGpR2nJimZ6IhJdXPIVAiEAzdAppR3g1wLabscfdvxg6O/HMssIHZjt
d7LZnRt1Da8=
-----END CERTIFICATE-----`,
  /** Signed by an authority that is not included. */
  unknownAuthority: `-----BEGIN CERTIFICATE-----
MIIBdTCCARqgAwIBAgIBBDAKBggqhkjOPQQDAjARMQ8wDQYDVQQDDAZub2JvZHkw
IBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMMCWxv
Y2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABEvKpkWNYFOsWi7F251G
davjTSx/7zL0qdPSgr40e8IN9v6b06a3jj1wNkMCkhWDCUwJtpVwdizFD40NoQ/g
TFSjXjBcMBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAdBgNVHQ4EFgQUfkqI
zeGRARLKjh5hz8jdh0DwaWgwHwYDVR0jBBgwFoAUq21LQIowBIe4Vfl7sNMKCFwv
SXAwCgYIKoZIzj0EAwIDSQAwRgIhANeD2yGxEBi39mnKMV6J3ogyn52jRoBgKvVZ
Y3otyNgKAiEAjnKfOoS/wCUBnpczVhKPT5j0yJF1fZkBhU8U3Xqjok0=
-----END CERTIFICATE-----`,
} as const;

/** Starts the server and returns its URL without a path. */
export async function startTlsServer(
  certificate: keyof typeof CERTIFICATES,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ readonly url: string; readonly close: () => void }> {
  const server = createServer({ key: KEY, cert: CERTIFICATES[certificate] }, handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
