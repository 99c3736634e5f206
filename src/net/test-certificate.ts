// A certificate for tests, signed by itself, for `plimsoll.test` and `localhost`, good for a hundred years. Its key is public:
// it protects nothing.

export const testKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgdqBn/+KIgUWJi0eX
X8VaIFR2KI1wtnMwHKJdZRPZd1uhRANCAARlurRLylXWLRK2u/z1bUkMo85Lr1CN
xbW3/X7pSGWh+qABAojj0vdUYHspilL6NCACEfztpXjl/cVj2lmdGbqb
-----END PRIVATE KEY-----
`;

export const testCertificate = `-----BEGIN CERTIFICATE-----
MIIBrDCCAVKgAwIBAgIUUgTayazKbx97zPslkwFc5LU3KrgwCgYIKoZIzj0EAwIw
GDEWMBQGA1UEAwwNcGxpbXNvbGwudGVzdDAgFw0yNjExMzAwNjMwNTBaGA8yMTI2
MTEwNjA2MzA1MFowGDEWMBQGA1UEAwwNcGxpbXNvbGwudGVzdDBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABGW6tEvKVdYtEra7/PVtSQyjzkuvUI3Ftbf9fulIZaH6
oAECiOPS91RgeymKUvo0IAIR/O2leOX9xWPaWZ0ZupujeDB2MB0GA1UdDgQWBBRx
WFm5Kn/98r1n8uloIi2Lwr4c7jAfBgNVHSMEGDAWgBRxWFm5Kn/98r1n8uloIi2L
wr4c7jAPBgNVHRMBAf8EBTADAQH/MCMGA1UdEQQcMBqCDXBsaW1zb2xsLnRlc3SC
CWxvY2FsaG9zdDAKBggqhkjOPQQDAgNIADBFAiEAoG/2BYco2HP+PYRuLztygKEv
mSUCN5iLhMEi0KhkDuQCIE69/aqT8JPyFbcUXLfcj1lvin9Ocg+1tBIpq1TcvB1b
-----END CERTIFICATE-----
`;
