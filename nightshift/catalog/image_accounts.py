"""Accounts and groups that Ubuntu and Amazon Linux images bring along, and our own.

A login of one of these names can't be made, nor can one whose own group has the name. From Debian's
base-passwd (group.master and passwd.master) and the packages of both images; one that an image has besides is
refused by the node before it's ready.
"""

from __future__ import annotations

SYSTEM_PREFIX = "systemd-"
# fmt: off
SYSTEM_NAMES = frozenset((
    "adm", "admin", "audio", "backup", "bin", "cdrom", "cgred", "chrony", "crontab", "daemon", "dbus",
    "dcv", "dialout", "dip", "disk", "docker", "ec2-instance-connect", "ec2-user", "fax", "floppy",
    "ftp", "fwupd-refresh", "games", "input", "irc", "kmem", "kvm", "landscape", "libstoragemgmt",
    "list", "lock", "lp", "lxd", "mail", "man", "mem", "messagebus", "netdev", "news", "nfsnobody",
    "nightshift", "nobody", "nogroup", "nvidia-persistenced", "operator", "plugdev", "polkitd",
    "printadmin", "proxy", "render", "root", "rpc", "rpcuser", "sasl", "screen", "sgx", "shadow", "src",
    "ssh", "ssh-keys", "sshd", "ssm-user", "sssd", "staff", "stapdev", "stapsys", "stapusr", "sudo",
    "sync", "sys", "syslog", "tape", "tcpdump", "tss", "tty", "ubuntu", "users", "utmp", "uucp",
    "uuidd", "video", "voice", "wheel", "www-data",
))
# fmt: on
