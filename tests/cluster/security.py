"""What makes the servers ask who is there: principals, keytabs, and the protection of what is sent."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from tests.cluster.kerberos import REALM, Kdc
from tests.cluster.sites import NAME, SUPERUSER, USERS

#: Services by the user that each runs as. HTTP is what web pages are asked for by.
SERVICES = (SUPERUSER, "yarn", "hive", "HTTP")
#: May submit for others, as a scheduler's account may.
PROXY = "airflow"


def principal(service: str) -> str:
    return f"{service}/{NAME}@{REALM}"


def make_keytabs(kdc: Kdc) -> None:
    """One for each service, which holds HTTP's keys as well, and one for each person."""
    kdc.make_keytab("services", [principal(service) for service in SERVICES])
    (kdc.folder / "http-secret").write_text(secrets.token_hex())
    for user in (*USERS, PROXY):
        kdc.make_keytab(user, [f"{user}@{REALM}"])


def core() -> Mapping[str, str]:
    return {
        "hadoop.security.authentication": "kerberos",
        "hadoop.security.authorization": "true",
        "hadoop.rpc.protection": "privacy",
        # Who is turned away tries so many times again, each a second or more after the last.
        "ipc.client.connect.max.retries.on.sasl": "1",
        **{
            f"hadoop.proxyuser.{user}.{what}": "*" for user in (PROXY, "hive") for what in ("hosts", "groups")
        },
    }


def hdfs(kdc: Kdc) -> Mapping[str, str]:
    keytab, own, web = _keytab(kdc), principal(SUPERUSER), principal("HTTP")
    return {
        "dfs.block.access.token.enable": "true",
        "dfs.namenode.kerberos.principal": own,
        "dfs.namenode.keytab.file": keytab,
        "dfs.datanode.kerberos.principal": own,
        "dfs.datanode.keytab.file": keytab,
        "dfs.web.authentication.kerberos.principal": web,
        "dfs.web.authentication.kerberos.keytab": keytab,
        # WebHDFS asks nobody for a ticket by itself, and then turns everybody away.
        "hadoop.http.filter.initializers": "org.apache.hadoop.hdfs.web.AuthFilterInitializer",
        "hadoop.http.authentication.type": "kerberos",
        "hadoop.http.authentication.kerberos.principal": web,
        "hadoop.http.authentication.kerberos.keytab": keytab,
        "hadoop.http.authentication.signature.secret.file": str(kdc.folder / "http-secret"),
        # What the harness looks at, to see whether the servers are up.
        "hadoop.http.authentication.kerberos.endpoint.whitelist": "/jmx",
        "dfs.data.transfer.protection": "privacy",
        # Data goes through SASL; only the pages are plain, for want of a certificate.
        "ignore.secure.ports.for.testing": "true",
    }


def yarn(kdc: Kdc) -> Mapping[str, str]:
    keytab, own = _keytab(kdc), principal("yarn")
    return {
        "yarn.resourcemanager.principal": own,
        "yarn.resourcemanager.keytab": keytab,
        "yarn.nodemanager.principal": own,
        "yarn.nodemanager.keytab": keytab,
    }


def hive() -> Mapping[str, str]:
    """What the metastore's clients have to know."""
    return {"hive.metastore.sasl.enabled": "true", "hive.metastore.kerberos.principal": principal("hive")}


def metastore(kdc: Kdc) -> Mapping[str, str]:
    return {**hive(), "hive.metastore.kerberos.keytab.file": _keytab(kdc)}


def _keytab(kdc: Kdc) -> str:
    return str(kdc.keytab("services"))
