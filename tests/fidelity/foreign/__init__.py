"""Programs that write files with other libraries than those of the Spark that compacts them."""
