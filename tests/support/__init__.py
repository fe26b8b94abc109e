"""What several folders of tests share: builders, virtual time, a kubelet that plays."""
