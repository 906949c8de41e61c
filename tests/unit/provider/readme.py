"""The configuration and the command that the README of Lakekeeper shows."""

import shlex

README_YAML = """\
# lakekeeper.yaml
block_size_mb: 128
compaction_ratio_threshold: 10.0
log_level: INFO

spark_submit:
  enabled: true
  master: yarn
  deploy_mode: client
  principal: myuser@MY.REALM.COM
  keytab: /etc/security/keytabs/myuser.keytab
  queue: data-engineering
  archives: /opt/lakekeeper_env.tar.gz#lakekeeper_env
  python_env: ./lakekeeper_env/bin/python
  executor_memory: 4g
  num_executors: 10
  executor_cores: 2
  driver_memory: 2g
  script_path: /opt/lakekeeper/run_lakekeeper.py
  extra_conf:
    spark.yarn.kerberos.relogin.period: 1h
"""

README_SHOWN = shlex.split("""\
spark-submit --master yarn --deploy-mode client
  --principal myuser@MY.REALM.COM
  --keytab /etc/security/keytabs/myuser.keytab
  --conf spark.yarn.queue=data-engineering
  --archives /opt/lakekeeper_env.tar.gz#lakekeeper_env
  --conf spark.pyspark.python=./lakekeeper_env/bin/python
  --executor-memory 4g --num-executors 10
  /opt/lakekeeper/run_lakekeeper.py compact --table mydb.events
""")

README_COMMAND = [
    *README_SHOWN[: README_SHOWN.index("10") + 1],
    *("--executor-cores", "2", "--driver-memory", "2g"),
    *("--conf", "spark.yarn.kerberos.relogin.period=1h"),
    *README_SHOWN[README_SHOWN.index("10") + 1 :],
]
