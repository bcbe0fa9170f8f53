"""The TLS side of a webhook plugin (scheduling spec 7.2)."""

from __future__ import annotations

import base64
import ssl
import tempfile
from pathlib import Path

from kadm.model.policy import WebhookTLSConfig


class TLSFault(ValueError):
    """The configuration holds what is no certificate or key; the text says what."""


def tls_context(config: WebhookTLSConfig | None) -> ssl.SSLContext:
    """Whom to trust, and the client's certificate; without configuration the system's authorities. At least TLS 1.2.

    Raises TLSFault.
    """
    tls = config or WebhookTLSConfig()
    try:
        authority = base64.b64decode(tls.ca_data).decode("ascii") if tls.ca_data else None
        context = ssl.create_default_context(cadata=authority)
    except (ssl.SSLError, ValueError) as error:
        raise TLSFault("tlsConfig.caData is no certificate in PEM") from error
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # Python 3.13 demands extensions that many authorities of a company's own lack, and that Go does not ask for.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if tls.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if tls.cert_data and tls.key_data:
        try:
            _load(context, base64.b64decode(tls.cert_data), base64.b64decode(tls.key_data))
        except (ssl.SSLError, ValueError) as error:
            what = "tlsConfig.certData and keyData are no certificate and its key in PEM, without passphrase"
            raise TLSFault(what) from error
    return context


def _load(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Python reads certificates from files only: they live as long as this call, for us alone."""
    with tempfile.TemporaryDirectory(prefix="kadm-") as directory:
        certificate_file, key_file = Path(directory, "certificate"), Path(directory, "key")
        certificate_file.write_bytes(certificate)
        key_file.touch(mode=0o600)
        key_file.write_bytes(key)
        context.load_cert_chain(certificate_file, key_file, password=lambda: "")  # no prompt for a passphrase
