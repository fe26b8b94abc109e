// The parts of a Kubernetes control plane in one binary; the first argument chooses one.
//
// They share most of their code, so one binary is built and cached in a third of the time of six.
package main

import (
	"fmt"
	"os"
	"sort"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

var parts = map[string]func() int{
	"etcd":                    etcd,
	"kube-apiserver":          command(apiserver.NewAPIServerCommand),
	"kube-controller-manager": command(controllers.NewControllerManagerCommand),
	"kube-scheduler":          command(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
	"kubectl":                 command(kubectl.NewDefaultKubectlCommand),
	"kwok":                    kwok,
}

func etcd() int {
	etcdmain.Main(os.Args)
	return 0
}

func command(make func() *cobra.Command) func() int {
	return func() int { return cli.Run(make()) }
}

func main() {
	if len(os.Args) > 1 {
		if part, known := parts[os.Args[1]]; known {
			os.Args = os.Args[1:]
			os.Exit(part())
		}
	}
	names := make([]string, 0, len(parts))
	for name := range parts {
		names = append(names, name)
	}
	sort.Strings(names)
	fmt.Fprintln(os.Stderr, "usage: kubelab PART [flags]; parts:", names)
	os.Exit(2)
}
